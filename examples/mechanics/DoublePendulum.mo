// A double pendulum in Cartesian coordinates, made of bars and point masses.
//
// What to look at: two constraints, four states, and the energy does not drift.
//
// run: tolerance = 1e-10
// expect: conserved ball1.energy + ball2.energy within 1e-7
// expect: conserved ball1.x^2 + ball1.y^2 within 1e-10
// expect: conserved (ball2.x - ball1.x)^2 + (ball2.y - ball1.y)^2 within 1e-10
// expect: ball2.x at 1 = -1.44481884994348 within 1e-8
// expect: ball2.y at 1 = -1.32179446138145 within 1e-8
// expect: ball1.x at 2 = -0.464412868699563 within 1e-8
// expect: ball2.x at 2 = -1.43412481746433 within 1e-8
// expect: ball2.x at 3 = 1.87625085068211 within 1e-8
// expect: ball2.y at 3 = -0.224038497912771 within 1e-7

model DoublePendulum "Double pendulum in Cartesian coordinates"
  import Saltus.Planar.*;
  Fixed hinge;
  Bar bar1(L = 1), bar2(L = 1);
  PointMass ball1(x(start = 1), y(start = 0));
  PointMass ball2(x(start = 2), y(start = 0));
equation
  connect(hinge.joint, bar1.a);
  connect(bar1.b, ball1.joint);
  connect(ball1.joint, bar2.a);
  connect(bar2.b, ball2.joint);
  annotation(experiment(StopTime = 3, Interval = 0.01));
end DoublePendulum;
