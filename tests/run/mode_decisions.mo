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
// model Decisions.GeneratorAtRest
// stop 0.15
// final c.v 9.5241206
// final n 7
// model Decisions.SeriesByEquations
// stop 2
// warns consistency projector
// final l1 -0.1
// final l2 -0.1
// model Decisions.NothingMoves
// stop 3
// final v0 0
// final v2 0
// model Decisions.NothingMovesInNano
// stop 3
// final v0 -1.0867614
// final v1 -1.0867614
// model Decisions.FilledCart
// stop 1.5
// final v 2.1686747
// final w 1.8604651
// final q 6
// model Decisions.GearClutchBrake
// stop 3
// warns shared by minimum norm
// final a.w 0
// final b.w 0
// final br.tau 0
// model Decisions.GearClutchBrakeReversed
// stop 3
// warns shared by minimum norm
// final a.w 0
// final b.w 0
// model Decisions.DanglingSwitch
// stop 2
// silent
// final v 0.13533528
// final sv 0
// model Decisions.ZeroAtStart
// stop 4
// final c2_v -2.3872033
// final c3_v -2.3872033
// model Decisions.ZeroAtStartBesideThyristor
// stop 4
// final c2_v -2.3872033
// final ti 0
// model Decisions.InvertingNano
// stop 2
// final n 8
// final limits 8
// model Decisions.InvertingMicro
// stop 2
// final n 8
// final limits 8
// model Decisions.DiodeLadder
// stop 1
// final c[1].v 4.01145
// final c[8].v 3.87483
// model Decisions.HeavyFriction
// stop 4.9
// final m0.s 1.53091
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

  model SeriesByEquations "Inductors put in series, a resistor across the switch between them: flux (1*1.7 + 2*(-1))/3"
    Real l1(start = 1.7, fixed = true), l2(start = -1, fixed = true), v1, v2, ri, si;
  equation
    1*der(l1) = v1;
    2*der(l2) = v2;
    l1 = ri + si;
    if time < 1 then
      v1 = 0;
      v2 = 0;
      ri = 0;
    else
      v1 + v2 = 0;
      l2 = ri + si;
      ri = 2*si;
    end if;
  end SeriesByEquations;

  model NothingMoves "Three bodies that are at rest once they are joined; then masses change, and nothing moves"
    parameter Real k = 1;
    Real v0(start = -2, fixed = true), v1(start = 0, fixed = true), v2(start = 1, fixed = true), t0, t1;
    Real m0 = if time < 1.5 then k else 2.5*k, m1 = if time < 1.5 then 2*k else 0.5*k;
  equation
    der(m0*v0) = -t0;
    der(m1*v1) = t0 - t1;
    k*(1 + 3*v2^2)*der(v2) = t1;
    if time >= 0.5 then v0 = v1; else t0 = 0; end if;
    if time >= 0.5 then v1 = v2; else t1 = 0; end if;
  end NothingMoves;

  model NothingMovesInNano "4*v + v^3 = -2 + v2 + v2^3 from then on, before and after the masses change"
    extends NothingMoves(k = 1e-9, v2(start = -1.3217));
  end NothingMovesInNano;

  model FilledCart "Momentum of a mass that is a state and a load that jumps; the quotient; and a charge"
    Real m(start = 2, fixed = true), v(start = 3, fixed = true), w(start = 1, fixed = true), x(start = 2, fixed = true), q;
    Real c = if time < 1 then 1 else 2;
  equation
    der(m) = 0.1;
    der((m + c)*v) = 0;
    der(w*m/c) = 0;
    der(exp(m)*c*x) = 0;
    q = exp(m - 2)*c*x + 4;
  end FilledCart;

  model GearClutchBrake "A gear between angles and a clutch between speeds hold both shafts: the brake says nothing new"
    import Saltus.Rotational.*;
    Inertia a(J = 2, w(start = 3)), b(J = 1, w(start = 1));
    IdealGear g(ratio = 3);
    Clutch c(engaged = time >= 1);
    Brake br(locked = time >= 2);
  equation
    connect(a.flange_b, g.flange_a);
    connect(g.flange_b, b.flange_a);
    connect(a.flange_b, c.flange_a);
    connect(c.flange_b, b.flange_a);
    connect(b.flange_b, br.flange_a);
  end GearClutchBrake;

  model GearClutchBrakeReversed "The brake comes first"
    import Saltus.Rotational.*;
    Brake br(locked = time >= 1);
    Clutch c(engaged = time >= 2);
    IdealGear g(ratio = 3);
    Inertia b(J = 1, w(start = 1)), a(J = 2, w(start = 3));
  equation
    connect(b.flange_b, br.flange_a);
    connect(a.flange_b, c.flange_a);
    connect(c.flange_b, b.flange_a);
    connect(a.flange_b, g.flange_a);
    connect(g.flange_b, b.flange_a);
  end GearClutchBrakeReversed;

  model DanglingSwitch "A switch with a free end: that no current flows is said twice while it is open"
    Real v(start = 1, fixed = true), sv, si;
    Boolean c = time >= 1;
  equation
    der(v) = -v - si;
    si = 0;
    if c then sv = 0; else si = 0; end if;
  end DanglingSwitch;

  model ZeroAtStart "The diode's voltage is zero at the start, and a current flows to where it conducts"
    Real u_p;
    Real u_a;
    Real u_b;
    Real u_c;
    Real vs_v; Real vs_i;
    Real c1_v(start=1.0); Real c1_i;
    Real c2_v(start=0.0); Real c2_i;
    Real c3_v(start=0.0); Real c3_i;
    Real r_v; Real r_i;
    Real d_v; Real d_i;
    Real d_s; Boolean d_on;
  equation
    vs_v = u_p - 0;
    vs_v = -7.5;
    c1_v = u_a - u_p;
    1.9*der(c1_v) = c1_i;
    c2_v = u_a - u_b;
    1.8*der(c2_v) = c2_i;
    c3_v = u_a - u_c;
    1.3*der(c3_v) = c3_i;
    r_v = u_c - 0;
    r_v = 1.0*r_i;
    d_v = u_c - u_b;
    d_on = d_s > 0;
    d_v = if d_on then 0 else d_s;
    d_i = if d_on then d_s else 0;
    0 = + vs_i - c1_i;
    0 = + c1_i + c2_i + c3_i;
    0 = - c2_i - d_i;
    0 = - c3_i + r_i + d_i;
  end ZeroAtStart;

  model ZeroAtStartBesideThyristor
    extends ZeroAtStart;
    Real ti, ts;
    Boolean off(start = true, fixed = true);
  equation
    off = ts < 0 or pre(off) and not time >= 100;
    u_a = if off then ts else 0;
    ti = if off then 0 else ts;
  end ZeroAtStartBesideThyristor;

  model Inverting "An amplifier of 3e10 and more, limited: the output is at a limit for two thirds of the time"
    import Saltus.Electrical.*;
    parameter Real scale = 1;
    SineVoltage v(V = 1e-9*scale, f = 1);
    IdealLimitedOpAmp o;
    Resistor r1(R = 1e3), r2(R = 3e13/scale), r3(R = 1);
    Capacitor c(C = 1e-3);
    Ground g;
    Integer n(start = 0, fixed = true), limits(start = 0, fixed = true);
    Real wanted = max(-15, min(15, -30*sin(2*3.141592653589793*time)));
  equation
    connect(v.n, g.p);
    connect(v.p, r1.p);
    connect(r1.n, o.in_n);
    connect(r2.p, r1.n);
    connect(r2.n, o.out);
    connect(o.in_p, g.p);
    connect(o.out, r3.p);
    connect(r3.n, c.p);
    connect(c.n, g.p);
    when {o.high, o.low, not (o.high or o.low)} then
      n = pre(n) + 1;
    end when;
    when {time >= 0.2, time >= 0.45, time >= 0.7, time >= 0.95, time >= 1.2, time >= 1.45, time >= 1.7, time >= 1.95} then
      limits = pre(limits) + (if abs(o.out.v - wanted) < 1e-3 then 1 else 0);
    end when;
  end Inverting;

  model InvertingNano
    extends Inverting;
  end InvertingNano;

  model InvertingMicro
    extends Inverting(scale = 1e3);
  end InvertingMicro;

  model DiodeLadder "Far stages carry 1e-40 V at first"
    import Saltus.Electrical.*;
    parameter Integer N = 8;
    SineVoltage v(V = 10, f = 1);
    Resistor r[N](each R = 0.1), rl(R = 10);
    IdealDiode d[N];
    Capacitor c[N](each C = 0.01);
    Ground g;
  equation
    connect(v.n, g.p);
    connect(v.p, r[1].p);
    for k in 1:N loop
      connect(r[k].n, d[k].p);
      connect(d[k].n, c[k].p);
      connect(c[k].n, g.p);
    end for;
    for k in 1:N - 1 loop
      connect(d[k].n, r[k + 1].p);
    end for;
    connect(d[N].n, rl.p);
    connect(rl.n, g.p);
  end DiodeLadder;

  model HeavyFriction "Forces of 1e9 N: velocities of 1e-7 m/s are told apart all the same"
    import Saltus.Translational.*;
    Friction q1(f0=640174332.4059381);
    Mass m0(m=1579668281.0267782, v(start=1.0));
    ForceSource f0(f=3150923994.0596795*sin(3.535544728477256*time+0.33285163760434444));
    ForceSource f3(f=2402921660.177733*sin(3.240777949781243*time+0.7422888731136279));
    Spring q6(c=19895221395.82859);
    Fixed w;
    Friction q2(f0=735281495.4453621);
    Friction q3(f0=601037892.1249921);
    Mass m3(m=1323503740.8420048, v(start=0.0));
    Mass m2(m=2651022919.922504, v(start=0.0));
    Mass m1(m=1163731446.8627658, v(start=0.0));
    Spring q7(c=7694732437.09054);
    ForceSource f1(f=1555624772.057901*sin(2.3488097556394205*time+2.544449662002889));
    Friction q4(f0=566542559.0981693);
    Friction q0(f0=948455834.9648404);
    ForceSource f2(f=4356710305.273534*sin(3.6435666230206643*time+5.817064942042));
    Friction q5(f0=1321157533.4850404);
  equation
    connect(w.flange,q4.flange_a);
    connect(w.flange,q0.flange_a);
    connect(m1.flange_b,q6.flange_a);
    connect(q6.flange_b,m2.flange_a);
    connect(f3.flange,m3.flange_b);
    connect(m2.flange_b,q5.flange_a);
    connect(w.flange,q3.flange_a);
    connect(f1.flange,m1.flange_b);
    connect(q4.flange_b,m3.flange_b);
    connect(q7.flange_b,m3.flange_a);
    connect(m0.flange_b,q2.flange_a);
    connect(w.flange,q1.flange_a);
    connect(q1.flange_b,m1.flange_a);
    connect(q5.flange_b,m3.flange_b);
    connect(f2.flange,m2.flange_a);
    connect(q2.flange_b,m1.flange_b);
    connect(f0.flange,m0.flange_a);
    connect(q3.flange_b,m2.flange_b);
    connect(q0.flange_b,m0.flange_b);
    connect(m2.flange_a,q7.flange_a);
  end HeavyFriction;
end Decisions;
