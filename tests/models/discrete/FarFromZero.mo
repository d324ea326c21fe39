// Offsets and limits: what is decided near a value far from zero, beside large terms, or where a limit is reached exactly.
//
// expect: threshold.y at 2 = 1 within 1e-6
// expect: coordinate.y at 2 = 1 within 1e-6
// expect: friction.s.s at 4 = 2.25 within 1e-6
// expect: friction.s.v at 4 = 0 within 1e-9
// expect: rope.a.v at 0.2 = 0 within 1e-6
// expect: rope.a.v at 1 = 3 within 1e-6
// expect: limit.n at 1 = 1 within 0
// expect: limit.y at 1 = 1 within 0
// expect: limit.z at 1 = 1 within 0
// expect: limit.w at 1 = 1 within 0
// expect: rest.x at 1 = 0.125 within 1e-6
// expect: rest.s at 1 = 0.5 within 1e-6
// expect: smooth.x at 1 = 0.158529015192103 within 1e-6

model FarFromZero
  model Threshold "Of a sum with a large constant"
    Real x(start = 0, fixed = true), y(start = 0, fixed = true), s = x + 1e6;
  equation
    der(x) = 1;
    der(y) = if s > 1e6 + 1 then 1 else 0;
  end Threshold;

  model Coordinate "Of a state that is counted from afar"
    Real x(start = 1e6, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = if x > 1e6 + 1 then 1 else 0;
  end Coordinate;

  model Friction "Of a thousand tons"
    import Saltus.Translational.*;
    Mass s(m = 1e6, v(start = 3));
    Saltus.Translational.Friction f(f0 = 2e6);
    Fixed w;
  equation
    connect(w.flange, f.flange_a);
    connect(f.flange_b, s.flange_a);
  end Friction;

  model Rope "Between bodies far away"
    import Saltus.Translational.*;
    Mass a(m = 1, s(start = 1e6)), b(m = 3, s(start = 1e6 + 1), v(start = 4));
    Saltus.Translational.Rope r(L = 2);
  equation
    connect(a.flange_b, r.flange_a);
    connect(r.flange_b, b.flange_a);
  end Rope;

  model Limit "Reached exactly and kept"
    Real x(start = 0, fixed = true);
    Real s = noEvent(if x > 0.5 then 0.5 else x);
    Boolean y = min(0.5, x) >= 0.5, z = s >= 0.5, w = max(0, min(0.5, time)) >= 0.5;
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    when s >= 0.5 then
      n = pre(n) + 1;
    end when;
  end Limit;

  model Rest "States at rest that begin to move without an event"
    Real x(start = 0, fixed = true), s(start = 0, fixed = true);
  equation
    der(x) = max(0, time - 0.5);
    der(s) = noEvent(if time > 0.5 then 1 else 0);
  end Rest;

  model Smooth "A rate whose terms cancel at the start"
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1 - cos(time);
  end Smooth;

  Threshold threshold;
  Coordinate coordinate;
  Friction friction;
  Rope rope;
  Limit limit;
  Rest rest;
  Smooth smooth;
  annotation(experiment(StopTime = 4, Interval = 0.1));
end FarFromZero;
