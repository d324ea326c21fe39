// Unknowns that cancel in a combination of equations hide a constraint on states: mode changes obey it all the same.
//
// expect: cancelling.w1 at 2 = 1.3333333333333333 within 1e-9
// expect: cancelling.w2 at 2 = 1.3333333333333333 within 1e-9
// expect: joined.c1.v at 1.5+ = 1.3335 within 2e-3
// expect: joined.c2.v at 1.5+ = 1.3335 within 2e-3
// expect: series.l.i at 2 = -0.0601360069 within 1e-6
// expect: series.l2.i at 2 = -0.0601360069 within 1e-6
// expect: shorted.c1.v at 2 = 0 within 1e-9
// expect: shorted.c2.v at 2 = 0 within 1e-9
// expect: started.c1_v at 0+ = 0.3333333333333333 within 1e-9

model HiddenConstraints
  model Loop "w1 = w2 follows where a and b cancel: momentum (6 - 2)/3"
    Real w1(start = 6, fixed = true), w2(start = -1, fixed = true), t, a, b;
  equation
    der(w1) = -t;
    2*der(w2) = t;
    a = w1 + b;
    a + b = 3*t + sin(time);
    if time < 1 then
      t = 0;
    else
      a - b = w2;
    end if;
  end Loop;

  model Joined "Capacitors joined at both ends, tied to ground by resistors only: charge is shared"
    import Saltus.Electrical.*;
    Capacitor c1(C = 1, v(start = 6)), c2(C = 2, v(start = -1));
    IdealSwitch s1(close = time >= 1), s2(close = time >= 1);
    Resistor r1(R = 1e5), r2(R = 1e5), r3(R = 1e5), r4(R = 1e5);
    Ground g;
  equation
    connect(c1.p, s1.p);
    connect(s1.n, c2.p);
    connect(c1.n, s2.p);
    connect(s2.n, c2.n);
    connect(c1.p, r1.p);
    connect(c1.n, r2.p);
    connect(c2.p, r3.p);
    connect(c2.n, r4.p);
    connect(r1.n, g.p);
    connect(r2.n, g.p);
    connect(r3.n, g.p);
    connect(r4.n, g.p);
  end Joined;

  model Series "Inductors put in series, a resistor across a closed switch between them: flux (3*exp(-0.5) - 2)/3"
    import Saltus.Electrical.*;
    Inductor l(L = 1, i(start = 3)), l2(L = 2, i(start = -1));
    IdealSwitch s2(close = time >= 0.5), s1(close = time < 1);
    Resistor r(R = 1);
    Ground g;
  equation
    connect(g.p, l.p);
    connect(l.n, s2.p);
    connect(l.n, r.p);
    connect(s2.n, r.n);
    connect(s2.n, s1.p);
    connect(s1.n, g.p);
    connect(s2.n, l2.p);
    connect(l2.n, g.p);
  end Series;

  model Shorted "Parallel capacitors on floating nodes, shorted"
    import Saltus.Electrical.*;
    ConstantVoltage vs(V = 2);
    Resistor r(R = 1);
    Inductor l(L = 1);
    Capacitor c1(C = 1), c2(C = 2);
    IdealSwitch s(close = time >= 1);
    Ground g;
  equation
    connect(vs.n, g.p);
    connect(vs.p, r.p);
    connect(r.n, c1.p);
    connect(c1.p, c2.p);
    connect(c1.p, s.p);
    connect(c1.n, c2.n);
    connect(c1.n, s.n);
    connect(c1.n, l.p);
    connect(l.n, g.p);
  end Shorted;

  model Started "Contradicting starts of parallel capacitors share the charge"
    Real a, b, c1_v(start = 1), c2_v(start = 0), c1_i, c2_i, r_i;
  equation
    der(c1_v) = c1_i;
    2*der(c2_v) = c2_i;
    c1_v = a - b;
    c2_v = a - b;
    a = -r_i;
    b = r_i;
    r_i = c1_i + c2_i;
  end Started;

  Loop cancelling;
  Joined joined;
  Series series;
  Shorted shorted;
  Started started;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end HiddenConstraints;
