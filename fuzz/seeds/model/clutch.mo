model M Real a(start = 2, fixed = true), b(start = 0, fixed = true), t; Boolean e = time > 0.2; equation der(a) = -t; der(b) = t; if e then a = b; else t = 0; end if; end M;
