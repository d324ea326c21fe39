// unit: stop 4
// unit: input u 0:0 0.5:2 1.0:-2 2.0:0.7 3.0:1.2
model JumpThroughSwitch
  input Real u;
  output Real y;
  output Integer count(start = 0, fixed = true);
  Real x(start = 0, fixed = true);
equation
  der(x) = u - x;
  if u > 1 then y = x; elseif u < -1 then y = -x; else der(y) = -y; end if;
  when abs(x) > 0.6 then count = pre(count) + 1; end when;
end JumpThroughSwitch;
