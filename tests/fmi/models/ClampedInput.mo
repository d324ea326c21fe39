// unit: stop 3
// unit: input u 0:1 0.5:-2 1.0:3 1.5:-1 2.25:0.5
model ClampedInput
  input Real u;
  output Real v;
  Real i(start = 0), s, vd;
equation
  0.2*der(i) = u - i - vd;
  if s > 0 then vd = 0; i = s; else i = 0; vd = s; end if;
  v = i*2 + u;
end ClampedInput;
