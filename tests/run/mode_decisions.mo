// model Decisions.FarThreshold
// stop 2
// final y 1
// model Decisions.FarThresholds
// stop 2
// final n 3
// final early 0
// model Decisions.TwoFarStates
// stop 3
// final y 1
// model Decisions.FarRope
// stop 2
// final a.v 0.5
// final b.v 0.5
// model Decisions.Epoch
// stop 2.05
// final n 20
// model Decisions.FiredAcross
// stop 3
// silent
// final i 0.66939048
// final fired 1
// model Decisions.FiredAcrossBlocked
// stop 3
// silent
// final i 0.66939048
// model Decisions.GuessedContact
// stop 1
// silent
// final m.s 1
// final o.contact 0
// model Decisions.GuessedContacts
// stop 1
// silent
// final m[1].s 1
// final m[2].s 2
// final m[3].s 3
// final r.taut 0
// model Decisions.OneContactHolds
// stop 1
// silent
// final m[1].s 0
// final m[2].s 2
// final o[1].contact 1
// final o[2].contact 0
// model Decisions.PulledIntoContact
// stop 1
// warns `m.s` begins at 0 instead of -1
// final m.s 0
// model Decisions.Generator
// stop 0.15
// final c.v 9.5241206
// final n 8
// model Decisions.GeneratorAtRest
// stop 0.15
// final c.v 9.5241206
// final n 7
package Decisions "How conditions are decided near their zeros, at starts and by impulses"
  model FarThreshold "The state is large; that it has moved is known to much less"
    Real x(start = 1e9, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = if x > 1e9 + 1 then 1 else 0;
  end FarThreshold;

  model FarThresholds
    Real x(start = -3e11, fixed = true);
    Integer n(start = 0, fixed = true), early(start = 0, fixed = true);
  equation
    der(x) = -2;
    when x < -3e11 - 1 then
      n = pre(n) + 1;
      early = if time < 0.49 then 1 else 0;
    elsewhen x < -3e11 - 2 then
      n = pre(n) + 1;
      early = if time < 0.99 then 1 else 0;
    elsewhen x < -3e11 - 3 then
      n = pre(n) + 1;
      early = if time < 1.49 then 1 else 0;
    end when;
  end FarThresholds;

  model TwoFarStates
    Real a(start = 1e9, fixed = true), b(start = 1e9 - 2, fixed = true), y(start = 0, fixed = true);
  equation
    der(a) = 1;
    der(b) = 2;
    der(y) = if b > a then 1 else 0;
  end TwoFarStates;

  model FarRope "Taut after one second, far away"
    import Saltus.Translational.*;
    Mass a(m = 1, s(start = 1e9), v(start = 0)), b(m = 1, s(start = 1e9 + 1), v(start = 1));
    Rope r(L = 2);
  equation
    connect(a.flange_b, r.flange_a);
    connect(r.flange_b, b.flange_a);
  end FarRope;

  model Epoch "A clock that counts seconds from long ago"
    Real t(start = 1e7, fixed = true);
    discrete Real next(start = 1e7 + 0.1, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(t) = 1;
    when t >= pre(next) then
      next = pre(next) + 0.1;
      n = pre(n) + 1;
    end when;
  end Epoch;

  partial model Inductive "A thyristor across a diode that conducts the current of an inductor is fired in vain"
    Real x, i(start = 3, fixed = true), ti, ts, di, ds;
    Boolean on, off(start = true, fixed = true), fire = time >= 1;
    Integer fired(start = 0, fixed = true);
  equation
    der(i) = -0.5*i - x;
    i + ti = di;
    off = ts < 0 or pre(off) and not fire;
    -x = if off then ts else 0;
    ti = if off then 0 else ts;
    x = if on then 0 else ds;
    di = if on then ds else 0;
    when fire then
      fired = pre(fired) + 1;
    end when;
  end Inductive;

  model FiredAcross "What triggers the second instant is not zero: it has jumped"
    extends Inductive;
  equation
    on = ds > 0;
  end FiredAcross;

  model FiredAcrossBlocked
    extends Inductive;
  equation
    on = not ds < 0;
  end FiredAcrossBlocked;

  model GuessedContact "A guess of the contact draws nothing onto the stop"
    import Saltus.Translational.*;
    Mass m(s(start = 1), v(start = 0));
    Stop o(contact(start = true));
    Fixed w;
  equation
    connect(w.flange, o.flange_a);
    connect(o.flange_b, m.flange_a);
  end GuessedContact;

  model GuessedContacts
    import Saltus.Translational.*;
    Mass m[3](s(start = {1, 2, 3}), each v(start = 0));
    Stop o[3](each contact(start = true));
    Rope r(L = 4, taut(start = true));
    Fixed w;
  equation
    connect(m[1].flange_b, r.flange_a);
    connect(r.flange_b, m[3].flange_b);
    for k in 1:3 loop
      connect(w.flange, o[k].flange_a);
      connect(o[k].flange_b, m[k].flange_a);
    end for;
  end GuessedContacts;

  model OneContactHolds "A body that is pressed onto its stop stays, another is above"
    import Saltus.Translational.*;
    Mass m[2](s(start = {0, 2}), each v(start = 0));
    Stop o[2](each contact(start = true));
    ForceSource f(f = -1);
    Fixed w;
  equation
    connect(f.flange, m[1].flange_b);
    for k in 1:2 loop
      connect(w.flange, o[k].flange_a);
      connect(o[k].flange_b, m[k].flange_a);
    end for;
  end OneContactHolds;

  model PulledIntoContact "Where no mode keeps the start value, it is moved, and that is told"
    import Saltus.Translational.*;
    Mass m(s(start = -1), v(start = 0));
    Stop o(contact(start = true));
    Fixed w;
  equation
    connect(w.flange, o.flange_a);
    connect(o.flange_b, m.flange_a);
  end PulledIntoContact;

  partial model Rectifier
    import Saltus.Electrical.*;
    Real phi(fixed = true);
    SignalVoltage v(u = 10*sin(phi));
    IdealDiode d;
    Capacitor c(C = 1e-3);
    Resistor r(R = 100);
    Ground g;
    Integer n(start = 0, fixed = true);
  equation
    der(phi) = 314;
    when not d.off then
      n = pre(n) + 1;
    end when;
    connect(v.p, d.p);
    connect(d.n, c.p);
    connect(c.p, r.p);
    connect(c.n, g.p);
    connect(r.n, g.p);
    connect(v.n, g.p);
  end Rectifier;

  model Generator "A machine that starts at an angle whose sine is 1e-13"
    extends Rectifier(phi(start = 999.0264638415542));
  end Generator;

  model GeneratorAtRest
    extends Rectifier(phi(start = 0));
  end GeneratorAtRest;
end Decisions;
