// unit: stop 2
model ChargeSharing
  parameter Real C1 = 1, C2 = 3;
  Real v1(start = 4), v2(start = -1), i, q = C1*v1 + C2*v2;
  Boolean closed = time > 0.5 and time < 1 or time > 1.5;
  Real v3(start = 2), i3;
equation
  C1*der(v1) = -i - i3;
  C2*der(v2) = i;
  if closed then v1 = v2; else i = 0; end if;
  0.5*der(v3) = i3;
  i3 = v1 - v3;
end ChargeSharing;
