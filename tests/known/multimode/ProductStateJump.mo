// saltus simulate ProductStateJump.mo
// expected: mass m (filling, a state) plus a load c that jumps from 1 to 2 at t = 1: momentum (m + c)*v is conserved: v(0.5) = 300*3/3.05 = 295.08, v(1.5) = 300*3/4.15 = 216.87.
//   `M = m + c; der(M*v) = 0` is right.
// happens: E0615 at t = 1: the factor `m + c` of an impulse jumps ..., and the equation is not the derivative of anything. It is written as one.
//   The same: der(m*c*v), der(m^2*c*v), der(c*v/m), der(m*c*v^3), der(m*v) + der(c*v), der(exp(m)*c*v), discrete c, with a clutch. Only states besides v matter: der((2 + time)*c*v) is right.
model ProductStateJump
  Real m(start = 2, fixed = true), v(start = 300, fixed = true), c = if time < 1 then 1 else 2;
equation
  der(m) = 0.1;
  der((m + c)*v) = 0;
  annotation(experiment(StopTime = 2));
end ProductStateJump;
