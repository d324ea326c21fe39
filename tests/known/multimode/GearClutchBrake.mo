// saltus simulate GearClutchBrake.mo
// expected: gear 3:1 and clutch between a and b stop both at t = 1 (w_a = 3 w_b = w_b); the brake at t = 2 is redundant but consistent: stays at rest, torques shared with a warning.
// happens: E0612 at t = 2: mode singular: too many equations: `b.w = a.w`, `b.w = 0`, `a.phi = 3*b.phi`. (two brakes on one shaft, where all are velocity constraints, are shared)
model GearClutchBrake
  import Saltus.Rotational.*;
  Inertia a(J = 2, w(start = 3)), b(J = 1, w(start = 1));
  IdealGear g(ratio = 3);
  Clutch c(engaged = time >= 1);
  Brake br(locked = time >= 2);
equation
  connect(a.flange_b, g.flange_a);
  connect(g.flange_b, b.flange_a);
  connect(a.flange_a, c.flange_a);
  connect(c.flange_b, b.flange_b);
  connect(br.flange_a, b.flange_b);
  annotation(experiment(StopTime = 3));
end GearClutchBrake;
