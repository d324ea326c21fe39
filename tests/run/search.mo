// model Search.Handover
// stop 4
// final u 30
// final q 80
// final i[4] 3
// model Search.HandoverByWhen
// stop 2
// final u 20
// final i2 3
// final i1 0
// model Search.ForcedCommutation
// stop 2
// final uc 10
// final im 0
// final offm 1
// model Search.Doubler
// stop 4
// final vo 22.5
// model Search.Halver
// stop 1.95
// final vo 5.625
// final vf 5.625
// model Search.HalverWithDiodes
// stop 1.95
// final vo 5.625
// final vf 5.625
// model Search.TanksByEquation
// stop 10
// fails E0604 `x2 > 0`, `x1 <= 0` accumulate
// at 6.6666666
// model Search.TanksByWhen
// stop 10
// fails E0604 `x1 <= 0`, `x2 <= 0` accumulate
// at 6.6666666
// model Search.Twisting
// stop 10
// fails E0604 `x > 0`, `y > 0` accumulate
// at 4.461
// model Search.SignWithoutEvent
// stop 3
// fails E0603 chattering: `sign(x)` switched
// at 1
// model Search.NoEventSwitch
// stop 3
// fails E0603 `x > 0`
// at 1
// model Search.FunctionSwitch
// stop 3
// fails E0603 switched
// at 1
// model Search.SlidingSurface
// stop 30
// fails E0603 `sign(v + 2*x)`
// at 0.54
// model Search.SquareWaveFilter
// stop 0.5
// final settled 1
// model Search.NotItself
// refused E0606 the discrete variable `b` depends on itself
// model Search.CountsItself
// refused E0606 the discrete variable `n` depends on itself
// model Search.WrongLadder
// stop 0.05
// fails E0603 on both sides of `s[1] > 0` the model drives to the other side
// model Search.WrongPair
// stop 1
// fails E0612 the mode `close, not off` is singular
// at 0.5

package Search
  model Handover "One thyristor after the other is fired; the one with the highest voltage conducts"
    parameter Real e[4] = {10, 20, 15, 30};
    Real i[4], s[4], u, q(start = 0, fixed = true);
    Boolean off[4](each start = true, each fixed = true), fire[4];
  equation
    sum(i) = 3;
    der(q) = u;
    for k in 1:4 loop
      fire[k] = time >= k - 1 and time < k - 0.5;
      off[k] = s[k] < 0 or pre(off[k]) and not fire[k];
      if off[k] then
        i[k] = 0;
        s[k] = e[k] - u;
      else
        u = e[k];
        s[k] = i[k];
      end if;
    end for;
  end Handover;

  model HandoverByWhen "The same with a memory by `when`"
    Real i1, i2, u, s1, s2, q(start = 0, fixed = true);
    Boolean o1(start = false, fixed = true), o2(start = true, fixed = true);
  equation
    i1 + i2 = 3;
    der(q) = u;
    when s1 < 0 then
      o1 = true;
    elsewhen time >= 5 then
      o1 = false;
    end when;
    when s2 < 0 then
      o2 = true;
    elsewhen time >= 1 then
      o2 = false;
    end when;
    if o1 then
      i1 = 0;
      s1 = 10 - u;
    else
      u = 10;
      i1 = s1;
    end if;
    if o2 then
      i2 = 0;
      s2 = 20 - u;
    else
      u = 20;
      i2 = s2;
    end if;
  end HandoverByWhen;

  model ForcedCommutation "An auxiliary thyristor blocks the main one by a charged capacitor; the load freewheels at last"
    Real im, ia, uc(start = -10, fixed = true), sm, sa, iL(start = 1, fixed = true), u, id, sd;
    Boolean offm(start = true, fixed = true), offa(start = true, fixed = true);
    Boolean fm = time < 0.1, fa = time > 0.5 and time < 0.6;
  equation
    im + ia + id = iL;
    0.05*der(uc) = ia;
    der(iL) + 3*iL = u;
    offm = sm < 0 or pre(offm) and not fm;
    offa = sa < 0 or pre(offa) and not fa;
    if offm then
      im = 0;
      sm = 10 - u;
    else
      u = 10;
      im = sm;
    end if;
    if offa then
      ia = 0;
      sa = 10 - uc - u;
    else
      u = 10 - uc;
      ia = sa;
    end if;
    if sd > 0 then
      u = 0;
      sd = id;
    else
      id = 0;
      sd = -u;
    end if;
  end ForcedCommutation;

  partial model ChargePump "A flying capacitor between four ideal switches: all are open for a part of each period"
    parameter Real cf = 1, co = 1, E = 12;
    Real ux, uy, vf(start = 0), vo(start = 0), jf, jo, i[4], v[4];
    Boolean a(start = false, fixed = true), b(start = false, fixed = true);
  equation
    when sample(0, 1) then
      a = true;
    elsewhen sample(0.4, 1) then
      a = false;
    end when;
    when sample(0.5, 1) then
      b = true;
    elsewhen sample(0.9, 1) then
      b = false;
    end when;
    vf = ux - uy;
    cf*der(vf) = jf;
    co*der(vo) = jo;
    for k in 1:2 loop
      if a then
        v[k] = 0;
      else
        i[k] = 0;
      end if;
    end for;
    for k in 3:4 loop
      if b then
        v[k] = 0;
      else
        i[k] = 0;
      end if;
    end for;
  end ChargePump;

  model Doubler
    extends ChargePump;
  equation
    v[1] = E - ux;
    v[2] = uy;
    v[3] = E - uy;
    v[4] = ux - vo;
    i[1] - jf - i[4] = 0;
    i[3] + jf - i[2] = 0;
    jo = i[4];
  end Doubler;

  model Halver
    extends ChargePump(co = 3);
  equation
    v[1] = E - ux;
    v[2] = uy - vo;
    v[3] = ux - vo;
    v[4] = uy;
    i[1] - jf - i[3] = 0;
    i[2] - jf + i[4] = 0;
    jo = i[2] + i[3];
  end Halver;

  model HalverWithDiodes "A diode across every switch"
    parameter Real cf = 1, co = 3, E = 12;
    Real ux, uy, vf(start = 0), vo(start = 0), jf, jo, i[4], v[4], j[4], s[4];
    Boolean a(start = false, fixed = true), b(start = false, fixed = true);
  equation
    when sample(0, 1) then
      a = true;
    elsewhen sample(0.4, 1) then
      a = false;
    end when;
    when sample(0.5, 1) then
      b = true;
    elsewhen sample(0.9, 1) then
      b = false;
    end when;
    vf = ux - uy;
    cf*der(vf) = jf;
    co*der(vo) = jo;
    for k in 1:4 loop
      if (if k <= 2 then a else b) then
        v[k] = 0;
      else
        i[k] = 0;
      end if;
      if s[k] > 0 then
        v[k] = 0;
        s[k] = j[k];
      else
        j[k] = 0;
        s[k] = (if k == 2 then 1 else -1)*v[k];
      end if;
    end for;
    v[1] = E - ux;
    v[2] = uy - vo;
    v[3] = ux - vo;
    v[4] = uy;
    (i[1] - j[1]) - jf - (i[3] - j[3]) = 0;
    (i[2] + j[2]) - jf + (i[4] - j[4]) = 0;
    jo = (i[2] + j[2]) + (i[3] - j[3]);
  end HalverWithDiodes;

  model TanksByEquation
    Real x1(start = 1, fixed = true), x2(start = 1, fixed = true);
    Boolean left(start = true, fixed = true);
  equation
    der(x1) = (if left then 0.7 else 0) - 0.5;
    der(x2) = (if left then 0 else 0.7) - 0.5;
    left = if pre(left) then x2 > 0 else x1 <= 0;
  end TanksByEquation;

  model TanksByWhen
    Real x1(start = 1, fixed = true), x2(start = 1, fixed = true);
    Boolean left(start = true, fixed = true);
  equation
    der(x1) = (if left then 0.7 else 0) - 0.5;
    der(x2) = (if left then 0 else 0.7) - 0.5;
    when x1 <= 0 then
      left = true;
    elsewhen x2 <= 0 then
      left = false;
    end when;
  end TanksByWhen;

  model Twisting "A spiral of finite length around the origin"
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = y;
    der(y) = -(if x > 0 then 2 else -2) - (if y > 0 then 1 else -1);
  end Twisting;

  model SignWithoutEvent
    Real x(start = 1, fixed = true);
  equation
    der(x) = -sign(x);
  end SignWithoutEvent;

  model NoEventSwitch
    Real x(start = 1, fixed = true);
  equation
    der(x) = noEvent(if x > 0 then -1 else 2);
  end NoEventSwitch;

  model FunctionSwitch
    function f
      input Real x;
      output Real y;
    algorithm
      if x > 0 then
        y := -1;
      else
        y := 1;
      end if;
    end f;
    Real x(start = 1, fixed = true);
  equation
    der(x) = f(x);
  end FunctionSwitch;

  model SlidingSurface
    Real x(start = 1, fixed = true), v(start = 0.3, fixed = true);
  equation
    der(x) = v;
    der(v) = -3*sign(v + 2*x);
  end SlidingSurface;

  model SquareWaveFilter "Switches without events that do not chatter"
    Real x(start = 0, fixed = true);
    Real settled = if abs(x) < 0.1 then 1 else 0;
  equation
    der(x) = noEvent(sign(sin(2000*time))) - x;
  end SquareWaveFilter;

  model NotItself
    Real x(start = 0, fixed = true);
    Boolean b;
  equation
    b = not b;
    der(x) = if b then 1 else -1;
  end NotItself;

  model CountsItself
    Integer n(start = 0, fixed = true);
  equation
    n = n + 1;
  end CountsItself;

  model WrongLadder "Thirty diodes with the wrong sign of a resistance: no mode is consistent, and there are a billion"
    parameter Integer n = 30;
    Real u[n](each start = 0, each fixed = true), i[n], s[n], from[n];
  equation
    from[1] = 20*sin(314*time) + 9*sin(1130*time);
    for k in 2:n loop
      from[k] = u[k - 1];
    end for;
    for k in 1:n loop
      if s[k] > 0 then
        s[k] = i[k];
        from[k] + 0.5*i[k] - u[k] = 0;
      else
        s[k] = from[k] - 0.5*i[k] - u[k];
        i[k] = 0;
      end if;
      1e-4*der(u[k]) = i[k] - 0.005*u[k] - (if k < n then i[min(k + 1, n)] else 0);
    end for;
  end WrongLadder;

  model WrongPair "Sources of two voltages are connected; a thyristor that conducts does not help"
    Real x(start = 0, fixed = true), i1, i2, u;
    Boolean close = time > 0.5;
    Real s;
    Boolean off(start = false, fixed = true);
  equation
    der(x) = u;
    off = s < -1000 and pre(off);
    u = 10;
    if close then
      u = 20;
    else
      i1 = 0;
    end if;
    if off then
      i2 = 0;
      s = u;
    else
      i2 = s;
      s = u;
    end if;
  end WrongPair;
end Search;
