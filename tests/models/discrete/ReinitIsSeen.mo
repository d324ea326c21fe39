// A new value of a state is seen at the same time by conditions, when-clauses, edges, rounding functions and if-expressions;
// what they set may give other states new values in turn.
//
// expect: thereAndBack.x at 1 = -0.5 within 1e-6
// expect: thereAndBack.y at 1 = 3 within 1e-6
// expect: thereAndBack.n at 1 = 1 within 0
// expect: threeInTurn.x at 1 = 10.5 within 1e-6
// expect: threeInTurn.y at 1 = 3 within 1e-6
// expect: threeInTurn.z at 1 = 4 within 1e-6
// expect: threeInTurn.n at 1 = 1 within 0
// expect: edges.n at 1 = 1 within 0
// expect: edges.k at 1 = 1 within 0
// expect: edges.c at 1 = 1 within 0
// expect: edges.b at 0.4 = 0 within 0
// expect: edges.b at 0.9 = 1 within 0
// expect: edges.x at 1 = 5.5 within 1e-6
// expect: switchedValue.y at 0.9 = 10 within 1e-6
// expect: switchedValue.w at 1 = 5.5 within 1e-6
// expect: downwards.n at 0.4 = 10 within 0
// expect: downwards.n at 0.9 = 11 within 0
// expect: sampled.k at 0.1 = 0 within 0
// expect: sampled.k at 0.3 = 10 within 0
// expect: sampled.k at 0.6 = 20 within 0
// expect: sampled.k at 0.8 = 30 within 0
// expect: sampled.k at 0.95 = 30 within 0
// expect: sampled.n at 0.95 = 3 within 0
// expect: rounding.f at 0.1 = 4 within 0
// expect: rounding.c at 0.1 = 5 within 0
// expect: rounding.f at 0.9 = -5 within 0
// expect: rounding.c at 0.9 = -4 within 0
// expect: rounding.m at 0.9 = 1.76 within 1e-6
// expect: rounding.r at 0.9 = -1.24 within 1e-6
// expect: rounding.d at 0.9 = -1 within 1e-6
// expect: rounding.k at 0.9 = -5 within 0
// expect: ontoABound.f at 0.9 = 2 within 0
// expect: ontoABound.c at 0.9 = 3 within 0
// expect: ontoABound.x at 0.9 = 2.96 within 1e-6
// expect: oldValueAtTheInstant.y at 0.9 = 0.5 within 1e-6
// expect: oldValueAtTheInstant.x at 1 = 5.5 within 1e-6
// expect: exchange.x at 1 = 1.5 within 1e-6
// expect: exchange.y at 1 = 0.5 within 1e-6
// expect: array.n[1] at 1 = 1 within 1e-6
// expect: array.n[2] at 1 = 1 within 1e-6
// expect: array.n[3] at 1 = 1 within 1e-6
// expect: array.x[3] at 1 = 10.5 within 1e-6
// expect: hysteresis.hi at 0.1 = 0 within 0
// expect: hysteresis.hi at 0.3 = 1 within 0
// expect: hysteresis.hi at 0.6 = 1 within 0
// expect: hysteresis.hi at 0.8 = 0 within 0
// expect: twoPhases.state at 0.9 = 3 within 0
// expect: countsOfCounts.a at 0.9 = 1 within 0
// expect: countsOfCounts.b at 0.9 = 1 within 0
// expect: structure.y at 0.4 = -0.4 within 1e-6
// expect: structure.y at 0.9 = 10.8 within 1e-6
// expect: structure.n at 0.9 = 1 within 0
// expect: both.n at 0.9 = 1 within 0
// expect: newDiscreteValue.n at 0.9 = 1 within 0
// expect: newDiscreteValue.x at 0.9 = 7.4 within 1e-6
// expect: levels.w at 1 = 0.5 within 1e-6
// expect: ontoTheThreshold.n at 0.9 = 1 within 0
// expect: oscillator.n at 0.9 = 1 within 0
// expect: oscillator.x at 1 = 4.794255386042 within 1e-6
// expect: oscillator.v at 1 = 8.775825618904 within 1e-6
// expect: algebraic.y at 0.9 = 3.2 within 1e-6
// expect: algebraic.z at 0.9 = 2.2 within 1e-6
// expect: algebraic.y at 0.4 = 0.2 within 1e-6
// expect: nonlinear.y at 0.9 = 2 within 1e-6
// expect: nonlinear.y at 0.4 = 1 within 1e-6
// expect: beforeAndAfter.last at 0.9 = 0.5 within 1e-6
// expect: beforeAndAfter.new at 0.9 = 5 within 1e-6

model ReinitIsSeen
  model ThereAndBack
    Real x(start = 0, fixed = true);
    Real y(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = 0;
    when x >= 0.5 then
      reinit(y, 3);
    end when;
    when y > 2 then
      reinit(x, -1);
      n = pre(n) + 1;
    end when;
  end ThereAndBack;

  model ThreeInTurn
    Real x(start = 0, fixed = true);
    Real y(start = 0, fixed = true);
    Real z(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = 0;
    der(z) = 0;
    when x >= 0.5 then
      reinit(y, 3);
    end when;
    when y > 2 then
      reinit(z, 4);
    end when;
    when z > 3 then
      reinit(x, 10);
      n = pre(n) + 1;
    end when;
  end ThreeInTurn;

  model Edges
    Real x(start = 0, fixed = true);
    Boolean b = x > 3;
    Integer n(start = 0, fixed = true), k(start = 0, fixed = true), c(start = 0, fixed = true);
  equation
    der(x) = 1;
    when time >= 0.5 then
      reinit(x, 5);
    end when;
    when b then
      n = pre(n) + 1;
    end when;
    when edge(b) then
      k = pre(k) + 1;
    end when;
    when change(b) then
      c = pre(c) + 1;
    end when;
  end Edges;

  model SwitchedValue
    Real x(start = 0, fixed = true);
    Real y = if x > 3 then 10 else 1;
    Real w(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(w) = y;
    when time >= 0.5 then
      reinit(x, 5);
    end when;
  end SwitchedValue;

  model Downwards
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    when time >= 0.5 then
      reinit(x, -3);
    end when;
    when x < -2 then
      n = pre(n) + 1;
    elsewhen x > 0.2 then
      n = pre(n) + 10;
    end when;
  end Downwards;

  model Sampled
    Real x(start = 0, fixed = true);
    Integer k = integer(x);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    when sample(0.25, 0.25) then
      reinit(x, x + 10);
    end when;
    when change(k) then
      n = pre(n) + 1;
    end when;
  end Sampled;

  model Rounding
    Real x(start = 5, fixed = true);
    Real f = floor(x), c = ceil(x), m = mod(x, 3), r = rem(x, 3), d = div(x, 3);
    Integer k = integer(x);
  equation
    der(x) = -0.1;
    when time >= 0.5 then
      reinit(x, -4.2);
    end when;
  end Rounding;

  model OntoABound
    Real x(start = 5, fixed = true);
    Real f = floor(x), c = ceil(x);
  equation
    der(x) = -0.1;
    when time >= 0.5 then
      reinit(x, 3);
    end when;
  end OntoABound;

  model OldValueAtTheInstant
    Real x(start = 0, fixed = true);
    discrete Real y(start = 0, fixed = true);
  equation
    der(x) = 1;
    when time >= 0.5 then
      y = x;
      reinit(x, 5);
    end when;
  end OldValueAtTheInstant;

  model Exchange
    Real x(start = 0, fixed = true);
    Real y(start = 1, fixed = true);
  equation
    der(x) = 1;
    der(y) = 0;
    when time >= 0.5 then
      reinit(x, y);
      reinit(y, x);
    end when;
  end Exchange;

  model Array
    Real x[3](each start = 0, each fixed = true);
    Integer n[3](each start = 0, each fixed = true);
  equation
    der(x) = {1, 2, 3};
    when time >= 0.5 then
      reinit(x, {7, 8, 9});
    end when;
    for i in 1:3 loop
      when x[i] > 5 then
        n[i] = pre(n[i]) + 1;
      end when;
    end for;
  end Array;

  model Hysteresis
    Real x(start = 0, fixed = true);
    Boolean hi(start = false, fixed = true);
  equation
    der(x) = 1;
    hi = x > 4 or pre(hi) and x > 2;
    when time >= 0.25 then
      reinit(x, 5);
    elsewhen time >= 0.5 then
      reinit(x, 2.2);
    elsewhen time >= 0.75 then
      reinit(x, 1);
    end when;
  end Hysteresis;

  model TwoPhases
    Real x(start = 0, fixed = true);
    Integer state(start = 1, fixed = true);
  equation
    der(x) = 1;
    when time >= 0.25 then
      reinit(x, 10);
    end when;
    when x > 5 and pre(state) == 1 then
      state = 2;
    elsewhen x > 8 and pre(state) == 2 then
      state = 3;
    end when;
  end TwoPhases;

  model CountsOfCounts
    Real x(start = 0, fixed = true);
    Integer a(start = 0, fixed = true), b(start = 0, fixed = true);
  equation
    der(x) = 1;
    when time >= 0.25 then
      reinit(x, 10);
    end when;
    when x > 5 then
      a = pre(a) + 1;
    end when;
    when a > 0 then
      b = pre(b) + a;
    end when;
  end CountsOfCounts;

  model Structure
    Real x(start = 0, fixed = true);
    Real y;
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    if x > 3 then
      y = 2*x;
    else
      y = -x;
    end if;
    when time >= 0.5 then
      reinit(x, 5);
    end when;
    when y > 0 then
      n = pre(n) + 1;
    end when;
  end Structure;

  model Both
    Real x(start = 0, fixed = true), y(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = 1;
    when time >= 0.5 then
      reinit(x, 5);
      reinit(y, 6);
    end when;
    when x > 4 and y > 4 then
      n = pre(n) + 1;
    end when;
  end Both;

  model NewDiscreteValue
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    when time >= 0.5 then
      reinit(x, if n > 0 then 7 else 3);
      n = pre(n) + 1;
    end when;
  end NewDiscreteValue;

  model Levels
    Real x(start = 0, fixed = true);
    Real w(start = 0, fixed = true);
    Real z;
  equation
    der(x) = 1;
    z = if x > 3 then 10 elseif x < -3 then -10 else 1;
    der(w) = z;
    when time >= 0.25 then
      reinit(x, 5);
    elsewhen time >= 0.5 then
      reinit(x, -5);
    elsewhen time >= 0.75 then
      reinit(x, 0);
    end when;
  end Levels;

  model OntoTheThreshold
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
    parameter Real th = 3;
  equation
    der(x) = 1;
    when time >= 0.5 then
      reinit(x, th);
    end when;
    when x > th then
      n = pre(n) + 1;
    end when;
  end OntoTheThreshold;

  model Oscillator
    Real x(start = 1, fixed = true), v(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = v;
    der(v) = -x;
    when time >= 0.5 then
      reinit(v, 10);
      reinit(x, 0);
    end when;
    when v > 5 then
      n = pre(n) + 1;
    end when;
  end Oscillator;

  model Algebraic
    Real x(start = 0, fixed = true);
    Real y;
    Real z;
  equation
    der(x) = 1;
    y + z = x;
    y - z = if x > 3 then 1 else 0;
    when time >= 0.5 then
      reinit(x, 5);
    end when;
  end Algebraic;

  model Nonlinear
    Real x(start = 0, fixed = true);
    Real y(start = 1);
  equation
    der(x) = 1;
    y^3 + y = if x > 3 then 10 else 2;
    when time >= 0.5 then
      reinit(x, 5);
    end when;
  end Nonlinear;

  model BeforeAndAfter
    Real x(start = 0, fixed = true);
    discrete Real last(start = -1, fixed = true);
    discrete Real new(start = -1, fixed = true);
  equation
    der(x) = 1;
    when time >= 0.5 then
      last = pre(x);
      reinit(x, 5);
    end when;
    when x > 4 then
      new = x;
    end when;
  end BeforeAndAfter;

  ThereAndBack thereAndBack;
  ThreeInTurn threeInTurn;
  Edges edges;
  SwitchedValue switchedValue;
  Downwards downwards;
  Sampled sampled;
  Rounding rounding;
  OntoABound ontoABound;
  OldValueAtTheInstant oldValueAtTheInstant;
  Exchange exchange;
  Array array;
  Hysteresis hysteresis;
  TwoPhases twoPhases;
  CountsOfCounts countsOfCounts;
  Structure structure;
  Both both;
  NewDiscreteValue newDiscreteValue;
  Levels levels;
  OntoTheThreshold ontoTheThreshold;
  Oscillator oscillator;
  Algebraic algebraic;
  Nonlinear nonlinear;
  BeforeAndAfter beforeAndAfter;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end ReinitIsSeen;
