// A ball on an elastic rope between a hinge and a wall.
//
// What to look at: the ball falls, the rope throws it back, it flies into the wall and bounces off. The energy is kept.
//
// run: tolerance = 1e-11
// expect: event at 0.42019009430079311 within 1e-8
// expect: ball.vx at 0.42019009430079311+ = -3.5698128545748746 within 1e-8
// expect: event at 0.504228113160952 within 1e-8
// expect: ball.vx at 0.504228113160952+ = 3.5698128545748746 within 1e-8
// expect: conserved ball.energy within 1e-7

model PendulumWall "Ball, elastic rope and wall"
  import Saltus.Planar.*;
  Fixed hinge;
  ElasticRope rope(L = 1, e = 1);
  PointMass ball(x(start = 0.5));
  Wall wall(x0 = 0.2, side = -1, e = 1);
equation
  connect(hinge.joint, rope.a);
  connect(rope.b, ball.joint);
  connect(ball.joint, wall.joint);
  annotation(experiment(StopTime = 1, Interval = 0.002));
end PendulumWall;
