// A wagon rolls into a second one and pushes it against a third one.
//
// What to look at: the first impact is plastic: a and b go on together. The second one is elastic: c bounces off both.
//
// run: tolerance = 1e-9
// expect: event at 1 within 1e-8
// expect: a.v at 1+ = 1 within 1e-8
// expect: b.v at 1+ = 1 within 1e-8
// expect: event at 3 within 1e-8
// expect: c.v at 3+ = 1.3333333333333333 within 1e-8
// expect: b.v at 3+ = 0.3333333333333333 within 1e-8
// expect: conserved a.v + b.v + c.v within 1e-9

model Buffer "Plastic and elastic impact"
  import Saltus.Translational.*;
  Mass a(m = 1, s(start = 0), v(start = 2));
  Stop hook "Between the first two";
  Mass b(m = 1, s(start = 2), v(start = 0));
  ElasticImpact bumper(e = 1);
  Mass c(m = 1, s(start = 4), v(start = 0));
equation
  connect(a.flange_b, hook.flange_a);
  connect(hook.flange_b, b.flange_a);
  connect(b.flange_b, bumper.flange_a);
  connect(bumper.flange_b, c.flange_a);
  annotation(experiment(StopTime = 4, Interval = 0.01));
end Buffer;
