// A tug pulls a barge with a rope that is slack at first.
//
// What to look at: at the moment the rope goes tight both take on a common velocity, and the tension is an impulse. The
// tug's engine stops at t = 6 s: drag slows the tug, the barge runs on, and the rope goes slack.
//
// run: tolerance = 1e-9
// expect: event at 2.39658087463133 within 1e-7
// expect: tug.v at 2.39658087463133- = 2.79316174926266 within 1e-6
// expect: tug.v at 2.39658087463133+ = 0.698290437315664 within 1e-7
// expect: barge.v at 2.39658087463133+ = 0.698290437315664 within 1e-7
// expect: impulse rope.tension at 2.39658087463133 = 2.09487131194699 within 1e-5
// expect: rope.tension at 5 = 0.89420854423713 within 1e-8
// expect: rope.tension at 7 = 0 within 1e-12
// expect: barge.v at 7 = 1.89563661185614 within 1e-8
// expect: rope.tension >= -1e-9 always

model TowingRope "Towing with a rope"
  import Saltus.Translational.*;
  Mass barge(m = 3);
  Rope rope(L = 4);
  Mass tug(m = 1);
  ForceSource engine;
  Saltus.Blocks.Sources.Step thrust(offset = 2, height = -2, startTime = 6);
  Damper drag(d = 0.5) "Drag of the tug";
  Fixed water;
  PositionSensor position;
equation
  connect(barge.flange_b, rope.flange_a);
  connect(rope.flange_b, tug.flange_a);
  connect(thrust.y, engine.f);
  connect(engine.flange, tug.flange_b);
  connect(water.flange, drag.flange_a);
  connect(drag.flange_b, tug.flange_b);
  connect(position.flange, tug.flange_b);
  annotation(experiment(StopTime = 8, Interval = 0.02));
end TowingRope;
