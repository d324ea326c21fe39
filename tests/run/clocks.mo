// Clocks: when they tick, and what is computed at coincident ticks. Values were computed by hand or by the recursion in the
// description.
//
package Clocks
// model Clocks.Recursion
// stop 1
// final y 0.8299707031250001
// final n 11
// final h 0.1
// final first 0
// silent
  model Recursion "y := (y + x^2)/2 at every tenth of a second, with what is known of the clock"
    Real xs, y(start = 0);
    Integer n(start = 0);
    Boolean first;
    Real h;
  equation
    xs = sample(time, Clock(1, 10));
    y = 0.5*previous(y) + 0.5*xs^2;
    n = previous(n) + (if xs < 100 then 1 else 0);
    first = firstTick(n);
    h = interval(n);
  end Recursion;
// model Clocks.ToAndFro
// stop 0.35
// final b 0.2
// final c 0.5
  model ToAndFro "a fast part reads a slow one that reads it, all at one tick"
    Real a = sample(time, Clock(1, 10));
    Real b = superSample(subSample(a, 2), 2);
    Real c = a + b;
  end ToAndFro;
// model Clocks.SlowOfFastOfSlow
// stop 0.035
// final y 0.03
// final z 0.06
  model SlowOfFastOfSlow "sub-partitions that cannot be ordered as such"
    Real x = sample(time, Clock(1, 100));
    Real y = superSample(x, 2);
    Real z = subSample(y, 2) + x;
  end SlowOfFastOfSlow;
// model Clocks.NoClockOrSampleHold
// stop 0.45
// final x 0.5
// final y 0.5
// final z 0.4
  model NoClockOrSampleHold "the latest value, and the value just before"
    Clock fast = Clock(0.1);
    Clock slow = subSample(fast, 2);
    Real x(start = 0), y(start = 0), z(start = 0);
  equation
    when fast then
      x = previous(x) + 0.1;
    end when;
    when slow then
      y = noClock(x);
      z = sample(hold(x));
    end when;
  end NoClockOrSampleHold;
// model Clocks.Rates
// stop 9.9
// final y 9
// final slow 8
// final fast 8
// final shifted 9
// final shifted2 9
// final back 8
  model Rates "conversions of a counter"
    Integer y = integer(sample(time + 0.5, Clock(1)));
    Integer slow = subSample(y, 4);
    Integer fast = superSample(slow, 5);
    Integer shifted(start = 10) = shiftSample(y, 1, 5);
    Integer shifted2 = subSample(shiftSample(superSample(y, 5), 1), 5);
    Integer back = backSample(shifted, 1, 5);
  end Rates;
// model Clocks.BackBeforeTheFirst
// stop 0.5
// final back 10
// final shifted 0
  model BackBeforeTheFirst "before the first tick of what it reads: the start value"
    Integer y = integer(sample(time + 0.5, Clock(1)));
    Integer shifted(start = 10) = shiftSample(y, 1, 5);
    Integer back = backSample(shifted, 1, 5);
  end BackBeforeTheFirst;
// model Clocks.InferredFactor
// stop 0.25
// final fast 0.1
// final slow 0.2
  model InferredFactor "factors follow from the clocks of both sides"
    Real a = sample(time, Clock(1, 10));
    Real b = sample(time, Clock(1, 50));
    Real fast, slow;
  equation
    fast = superSample(a) - 0*b - (if b > 0.19 then 0.1 else 0);
    slow = subSample(b) + 0*a;
  end InferredFactor;
// model Clocks.VariableInterval
// stop 0.13
// final n 4
// final k 6
// final h 0.05
  model VariableInterval "ticks at 0, 0.03, 0.07, 0.12, …"
    Integer k(start = 2), n(start = 0);
    Real h;
  equation
    when Clock(k, 100) then
      k = previous(k) + 1;
      n = previous(n) + 1;
      h = interval();
    end when;
  end VariableInterval;
// model Clocks.VariableRealInterval
// stop 0.013
// final n 4
// final m 3
  model VariableRealInterval "the same with a Real interval, and every second tick of it from the second on"
    Real next(start = 0.002);
    Integer n(start = 0), m(start = 0);
  equation
    when Clock(next) then
      next = previous(next) + 1e-3;
      n = previous(n) + 1;
    end when;
    m = previous(m)*0 + shiftSample(subSample(n, 2), 1) + 0;
  end VariableRealInterval;
// model Clocks.NoInterval
// fails E0608 the next interval must be positive, and long
// at 0.2
  model NoInterval "an interval that shrinks to nothing"
    Integer k(start = 3);
  equation
    when Clock(k, 10) then
      k = previous(k) - 1 - (if previous(k) == 2 then 1 else 0);
    end when;
  end NoInterval;
// model Clocks.Events
// stop 3
// final seen 1
// final n 3
// final m 4
// final h 1
// final first 0.7
  model Events "what a clock of events samples is what made it tick"
    Boolean b = time >= 0.5 and time < 0.7 or time >= 1.5 and time < 1.7 or time >= 2.5;
    Clock c = Clock(b, 0.7);
    Boolean seen = sample(b, c);
    Integer n(start = 0), m(start = 0);
    Real h, first(start = 0);
  equation
    n = previous(n) + (if seen then 1 else 100);
    m = previous(m) + subSample(n, 2);
    h = interval(n);
    first = if firstTick(n) then h else previous(first);
  end Events;
// model Clocks.TickWithTimeEvent
// stop 0.35
// final s 0
// final t 1
  model TickWithTimeEvent "an event at the time of a tick comes after it: the tick takes the values before"
    Boolean above = time >= 0.3;
    Boolean s(start = false), t(start = false);
  equation
    s = sample(above, Clock(1, 10));
    t = sample(above, Clock(1, 20));
  end TickWithTimeEvent;
// model Clocks.ModeByTick
// stop 1
// final x 0.7
// final n 1
  model ModeByTick "a held Boolean switches the equations of the plant"
    Real x(start = 0, fixed = true);
    Boolean run(start = true);
    Integer n(start = 0);
  equation
    if hold(run) then
      der(x) = 1;
    else
      der(x) = 0;
    end if;
    run = sample(x, Clock(1, 10)) < 0.65;
    when not hold(run) then
      n = pre(n) + 1;
    end when;
  end ModeByTick;
// model Clocks.LinearLoop
// stop 1
// final a 0.8034683059831664
// final b 0.09826584700841667
  model LinearLoop "two equations that give two variables together"
    Real a(start = 0), b(start = 0);
  equation
    a + 2*b = sample(time, Clock(1, 10));
    a - b = previous(a);
  end LinearLoop;
// model Clocks.NonlinearLoop
// stop 1
// final z 0.9876111705130041
  model NonlinearLoop "an equation that is solved"
    Real z(start = 1);
  equation
    z^3 + z = sample(time, Clock(1, 10)) + previous(z);
  end NonlinearLoop;
// model Clocks.NoSolution
// fails E0608 no values of `z` were found
// at 0.3
  model NoSolution "an equation without a solution from some time on"
    Real z(start = 1);
  equation
    z^2 = sample(0.25 - time, Clock(1, 10));
  end NoSolution;
// model Clocks.Branches
// stop 0.55
// final a 5
// final b -5
// final s 15
  model Branches "if-equations and algorithms at ticks"
    Integer n(start = -1), a, b, s(start = 0);
  equation
    when Clock(1, 10) then
      n = previous(n) + 1;
      if n > 2 then
        a = n;
        b = -n;
      else
        b = n;
        a = -n;
      end if;
    end when;
  algorithm
    s := previous(s);
    if n > 0 then
      s := s + n;
    end if;
  end Branches;
// model Clocks.SolverMethods
// stop 1
// final a 0.6973568802
// final b 0.7710865788590632
// final c 0.7351450847657381
// final d 0.7370819696671036
// final e 0.735759548824997
  model SolverMethods "one step of each method from tick to tick, with an input"
    model Lag
      parameter String method;
      Real x(start = 1);
    equation
      der(x) = -x + sample(time, Clock(Clock(1, 10), solverMethod = method));
    end Lag;
    Lag ee(method = "ExplicitEuler"), ie(method = "ImplicitEuler"), it(method = "ImplicitTrapezoid"),
      mp(method = "ExplicitMidPoint2"), rk(method = "ExplicitRungeKutta4");
    Real a = hold(ee.x), b = hold(ie.x), c = hold(it.x), d = hold(mp.x), e = hold(rk.x);
  end SolverMethods;
// model Clocks.InferredMethod
// stop 0.95
// final x 1.16226146700
  model InferredMethod "a solver method follows conversions: x ends at 3*0.9^9"
    Real x(start = 3) "Explicitly using ExplicitEuler";
    Real y(start = 0) "Explicitly using ImplicitEuler";
    Real z(start = 0) "Inferred to use ExplicitEuler";
  equation
    der(x) = -x + sample(0.0, Clock(Clock(1, 10), solverMethod = "ExplicitEuler"));
    der(y) = subSample(x, 2) + sample(1.0, Clock(Clock(2, 10), solverMethod = "ImplicitEuler"));
    der(z) = subSample(x, 2) + 1;
  end InferredMethod;
// model Clocks.DefaultClock
// stop 3.5
// final n 4
  model DefaultClock "without a clock: every second"
    Integer n(start = 0);
  equation
    when Clock() then
      n = previous(n) + 1;
    end when;
  end DefaultClock;
// model Clocks.Arrays
// stop 0.25
// final y[1] 0.2
// final y[2] 0.1
  model Arrays "arrays of clocks"
    Clock c[2] = {Clock(1, 10), subSample(Clock(1, 20), 2)};
    Real y[2](each start = 0);
  equation
    y[1] = sample(time, c[1]);
    y[2] = sample(time - 0.1, c[2]);
  end Arrays;
// model Clocks.IllegalMethod
// refused E0530 the solver method is not clear here
  model IllegalMethod "two methods lead to one part"
    Real x(start = 3), y(start = 0), z(start = 0);
  equation
    der(x) = -x + sample(1.0, Clock(Clock(1, 10), solverMethod = "ExplicitEuler"));
    der(y) = subSample(x, 2) + sample(1.0, Clock(Clock(2, 10), solverMethod = "ImplicitEuler"));
    der(z) = subSample(x, 4) + 1 + subSample(y);
  end IllegalMethod;
// model Clocks.TwoClocks
// refused E0532 has two clocks
  model TwoClocks
    Real u = sample(time, Clock(1, 10));
    Real y = subSample(u, 2) + sample(time, Clock(3, 10));
  end TwoClocks;
// model Clocks.NoWholeFactor
// refused E0532 no whole factor
  model NoWholeFactor
    Real u = sample(time, Clock(1, 10));
    Real y = subSample(u) + sample(time, Clock(1, 3));
  end NoWholeFactor;
// model Clocks.TooEarly
// refused E0532 before its base clock starts
  model TooEarly
    Clock u = Clock(3, 10);
    Clock y1 = shiftSample(u, 3);
    Clock y3 = backSample(y1, 4);
    Real x = sample(time, y3);
  end TooEarly;
// model Clocks.BetweenEvents
// refused E0532 between the ticks of its base clock
  model BetweenEvents
    Clock u = Clock(sin(time) > 0);
    Clock y = superSample(u, 2);
    Real x = sample(time, y);
  end BetweenEvents;
// model Clocks.TwoEventClocks
// refused E0532 this partition has two clocks
  model TwoEventClocks
    Real x = sample(time, Clock(sin(time) > 0)) + sample(time, Clock(cos(time) > 0));
  end TwoEventClocks;
// model Clocks.MissingSample
// refused E0530 without a solver method
  model MissingSample
    Real x(start = 0, fixed = true), y(start = 0);
  equation
    der(x) = 1;
    when Clock(1, 10) then
      y = previous(y) + x;
    end when;
  end MissingSample;
// model Clocks.MissingHold
// refused E0531 clocked and unclocked variables are mixed
  model MissingHold
    Real x(start = 0, fixed = true), y(start = 0), z;
  equation
    der(x) = 1;
    y = previous(y) + sample(x, Clock(1, 10));
    z = hold(y) + y;
  end MissingHold;
// model Clocks.EventOperator
// refused E0531 `pre` in a clocked equation
  model EventOperator
    Integer n(start = 0);
  equation
    when Clock(1, 10) then
      n = pre(n) + 1;
    end when;
  end EventOperator;
// model Clocks.Circle
// refused E0533 are defined by each other
  model Circle
    Boolean a(start = false), b(start = false);
  equation
    when Clock(1, 10) then
      a = not b;
      b = a;
    end when;
  end Circle;
// model Clocks.Constraint
// stop 1
// final x 0.3486784401
// final y 0.6973568802
// final f 0.3486784401
  model Constraint "an explicit method integrates one of two states that are tied: y = 2*x, x' = -x"
    Real x(start = 1, fixed = true), y(start = 2), f;
  equation
    der(x) = -x + sample(0.0, Clock(Clock(1, 10), solverMethod = "ExplicitEuler"));
    der(y) = -x - f;
    y = 2*x;
  end Constraint;
// model Clocks.InverseOfSecondOrder
// stop 0.95
// final v 1.8
// final f 2
  model InverseOfSecondOrder "a position is given by a filter; speed and force follow from derivatives of it"
    Real a(start = 0, fixed = true), b(start = 0, fixed = true), x, v, f;
  equation
    der(a) = sample(2.0, Clock(Clock(1, 10), solverMethod = "ExplicitEuler"));
    der(b) = a;
    x = b;
    der(x) = v;
    der(v) = f;
  end InverseOfSecondOrder;
// model Clocks.GivenFromOutside
// refused E0533 cannot determine
  model GivenFromOutside "the derivative of a sampled value is not known"
    Real x(start = 1), f(start = 0);
  equation
    der(x) = f;
    x = sample(time, Clock(Clock(1, 10), solverMethod = "ExplicitEuler"));
  end GivenFromOutside;
end Clocks;
