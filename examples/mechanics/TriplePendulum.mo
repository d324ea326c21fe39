// Three bars in a row, in Cartesian coordinates, falling from the horizontal.
//
// What to look at: three constraints of index 3, six of twelve coordinates are states, and which ones changes on the
// way. The motion is chaotic: the reference was computed with the three angles as coordinates.
//
// run: tolerance = 1e-10
// expect: conserved ball1.energy + ball2.energy + ball3.energy within 1e-5
// expect: conserved ball1.x^2 + ball1.y^2 within 1e-9
// expect: conserved (ball3.x - ball2.x)^2 + (ball3.y - ball2.y)^2 within 1e-9
// expect: ball3.x at 0.5 = 2.53749689213858 within 1e-6
// expect: ball3.x at 1 = -1.0628321405263863 within 1e-5
// expect: ball3.y at 1 = -2.628798323853794 within 1e-5
// expect: ball1.x at 2 = -0.9692125150830657 within 1e-4
// expect: ball3.y at 2 = -0.44590589982699597 within 1e-4

model TriplePendulum "Triple pendulum in Cartesian coordinates"
  import Saltus.Planar.*;
  Fixed hinge;
  Bar bar1(L = 1), bar2(L = 1), bar3(L = 1);
  PointMass ball1(x(start = 1), y(start = 0));
  PointMass ball2(x(start = 2), y(start = 0));
  PointMass ball3(x(start = 3), y(start = 0));
equation
  connect(hinge.joint, bar1.a);
  connect(bar1.b, ball1.joint);
  connect(ball1.joint, bar2.a);
  connect(bar2.b, ball2.joint);
  connect(ball2.joint, bar3.a);
  connect(bar3.b, ball3.joint);
  annotation(experiment(StopTime = 2, Interval = 0.01));
end TriplePendulum;
