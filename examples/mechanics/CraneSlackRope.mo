// A crane whose rope is slack: the trolley starts, the rope goes tight, and the load is torn along and off the floor.
//
// What to look at: load.x stays at zero until the rope is tight; then its velocity jumps and the rope's force is an impulse.
//
// run: tolerance = 1e-9
// expect: event at 2 within 1e-6
// expect: load.vx at 2- = 0 within 1e-9
// expect: trolley.v at 2- = 3 within 1e-6
// expect: trolley.v at 2+ = 2.75229357798165 within 1e-5
// expect: load.vx at 2+ = 0.990825688073395 within 1e-5
// expect: load.vy at 2+ = 1.32110091743119 within 1e-5

model CraneSlackRope "Crane with a slack rope"
  Saltus.Translational.ConstantForce drive(f = 6);
  Saltus.Translational.Mass trolley(m = 4);
  Saltus.Planar.Trolley rail(y = 4);
  Saltus.Planar.Rope rope(L = 5);
  Saltus.Planar.PointMass load(m = 1);
  Saltus.Planar.Floor floor;
equation
  connect(drive.flange, trolley.flange_a);
  connect(trolley.flange_b, rail.flange);
  connect(rail.joint, rope.a);
  connect(rope.b, load.joint);
  connect(load.joint, floor.joint);
  annotation(experiment(StopTime = 3, Interval = 0.005));
end CraneSlackRope;
