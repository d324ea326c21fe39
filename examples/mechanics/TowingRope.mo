// A tug pulls a barge with a rope that is slack at first.
//
// What to look at: at the moment the rope goes tight both take on a common velocity, and the tension is an impulse. The
// tug's engine stops at t = 6 s: drag slows the tug more than the barge, and the rope goes slack.
//
// run: tolerance = 1e-9
// expect: event at 2 within 1e-6
// expect: tug.v at 2- = 4 within 1e-6
// expect: tug.v at 2+ = 1 within 1e-6
// expect: barge.v at 2+ = 1 within 1e-6
// expect: impulse rope.tension at 2 = 3 within 1e-5
// expect: rope.tension at 2.0001 = 1.49995 within 1e-3
// expect: rope.tension >= -1e-9 always

model TowingRope "Towing with a rope"
  import Saltus.Translational.*;
  Mass barge(m = 3);
  Rope rope(L = 4);
  Mass tug(m = 1);
  ForceSource engine;
  Saltus.Blocks.Sources.Step thrust(offset = 2, height = -2, startTime = 6);
  Damper drag(d = 0.5) "Drag of the tug, once the rope is tight";
  Damper barge_drag(d = 0);
  Fixed water;
  PositionSensor position;
equation
  connect(barge.flange_b, rope.flange_a);
  connect(rope.flange_b, tug.flange_a);
  connect(thrust.y, engine.f);
  connect(engine.flange, tug.flange_b);
  connect(water.flange, drag.flange_a);
  connect(drag.flange_b, barge.flange_a);
  connect(water.flange, barge_drag.flange_a);
  connect(barge_drag.flange_b, tug.flange_b);
  connect(position.flange, tug.flange_b);
  annotation(experiment(StopTime = 8, Interval = 0.02));
end TowingRope;
