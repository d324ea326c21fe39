// unit: stop 2
model ManyInstants "One event that goes on for several instants and ends in another mode"
  Integer k(start = 0, fixed = true);
  Real w1(start = 3), w2(start = 0), t;
equation
  when time >= 0.5 then k = 1;
  elsewhen pre(k) >= 1 and pre(k) < 5 then k = pre(k) + 1;
  end when;
  der(w1) = -t; der(w2) = t - 0.1*w2;
  if k >= 5 then w1 = w2; else t = 0; end if;
end ManyInstants;
