// A crane whose rope is slack: the trolley starts, the rope goes tight, and the load is torn along and off the floor.
//
// What to look at: load.x stays at zero until the rope is tight; then its velocity jumps and the rope's force is an impulse. The
// load swings off the floor and lands at 2.72 s, faster than the trolley: the rope is slack again.
//
// run: tolerance = 1e-9
// expect: event at 2 within 1e-9
// expect: load.vx at 2- = 0 within 1e-12
// expect: trolley.v at 2- = 3 within 1e-9
// expect: trolley.v at 2+ = 2.75229357798165 within 1e-8
// expect: load.vx at 2+ = 0.990825688073394 within 1e-8
// expect: load.vy at 2+ = 1.32110091743119 within 1e-8
// expect: impulse rope.lambda at 2 = 0.330275229357798 within 1e-8
// expect: trolley.v at 2.5 = 2.86625340455251 within 1e-8
// expect: load.x at 2.5 = 1.13853169415193 within 1e-8
// expect: load.y at 2.5 = 0.212637525691663 within 1e-8
// expect: event at 2.71878809900463 within 1e-8
// expect: events 2
// expect: load.vx at 3 = 4.67172003073219 within 1e-7
// expect: load.x at 3 = 3.34882850713388 within 1e-8
// expect: trolley.v at 3 = 3.33206999231693 within 1e-8
// expect: load.y >= -1e-8 always
// expect: rope.lambda >= -1e-8 always

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
