// unit: stop 3
model SlopeNetwork
  Real v[4](start = {1, 0, -1, 2}), i[3], s[3];
equation
  for k in 1:3 loop
    if s[k] > 0 then v[k] = v[k + 1]; i[k] = s[k]; else i[k] = 0; s[k] = v[k] - v[k + 1]; end if;
  end for;
  der(v[1]) = sin(3*time) - i[1] - 0.1*v[1];
  2*der(v[2]) = i[1] - i[2];
  der(v[3]) = i[2] - i[3] - cos(2*time);
  3*der(v[4]) = i[3] - 0.2*v[4];
end SlopeNetwork;
