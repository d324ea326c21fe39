// Parameters that are solved for at the start (`fixed = false`): what is bound to them follows, start values, conditions and
// clocks too; bindings may close a circle.
//
// expect: chain.x at 0 = 7 within 1e-6
// expect: chain.x at 1 = 9 within 1e-6
// expect: implicit.x at 0 = 7 within 1e-6
// expect: implicit.x at 1 = 9 within 1e-6
// expect: startInACircle.x at 1 = 2 within 1e-6
// expect: guess.x at 1 = 3 within 1e-6
// expect: counts.y at 1 = 30 within 1e-6
// expect: given.y at 1 = 7 within 1e-6
// expect: discreteStart.x at 1 = 2.5 within 1e-6
// expect: condition.n at 0.4 = 0 within 0
// expect: condition.n at 0.6 = 1 within 0
// expect: clock.n at 0.1 = 0 within 0
// expect: clock.n at 0.9 = 3 within 0
// expect: circle.y at 1 = 1.029866529322 within 1e-6
// expect: backwards.y at 1 = 5 within 1e-6
// expect: elements.y at 1 = 18 within 1e-6
// expect: branch.y at 0.5 = 1 within 1e-6
// expect: switchedRate.x at 1 = 1 within 1e-6
// expect: twoByTwo.y at 1 = 5 within 1e-6
// expect: fromARate.x at 1 = 0.049787068368 within 1e-6
// expect: fromADiscrete.y at 1 = 3 within 1e-6
// expect: fromAVariable.x at 1 = 2.376790211556 within 1e-6
// expect: circleOfBindings.y at 1 = 4 within 1e-6
// expect: threeByThree.y at 1 = 6 within 1e-6
// expect: limits.y at 1 = 0.5 within 1e-6
// expect: limits.z at 1 = 1 within 1e-6
// expect: limits.n at 1 = 1 within 0
// expect: limits.n at 0.4 = 0 within 0
// expect: lateThreshold.n at 0.6 = 1 within 0
// expect: lateThreshold.n at 0.4 = 0 within 0
// expect: delayTime.u at 1 = 0.5 within 1e-6
// expect: boundCondition.x at 1 = 1 within 1e-6
// expect: chosenEquation.x at 0.5 = 7 within 1e-6

model OpenParameters
  model Chain
    parameter Real a(fixed = false);
    parameter Real b = 3*a;
    parameter Real c = b + 1;
    Real x(start = c, fixed = true);
  initial equation
    a = 2;
  equation
    der(x) = a;
  end Chain;

  model Implicit
    parameter Real a(fixed = false, start = 1);
    parameter Real b = 3*a;
    parameter Real c = b + 1;
    Real x(start = c, fixed = true);
  initial equation
    a^2 = 4;
  equation
    der(x) = a;
  end Implicit;

  model StartInACircle
    parameter Real a(fixed = false, start = 1);
    Real x(start = a/2, fixed = true);
  initial equation
    a = x + 2;
  equation
    der(x) = 0;
  end StartInACircle;

  model Guess
    parameter Real a(fixed = false, start = 1);
    Real x(start = a);
  initial equation
    a^2 = 9;
  equation
    der(x) = 0;
  end Guess;

  model Counts
    parameter Real a(fixed = false, start = 1);
    parameter Integer n = integer(a);
    parameter Boolean b = a > 2;
    parameter Real g = if b then 10 else 1;
    Real y = n*g*time;
  initial equation
    a^2 = 9 + 0.1;
  end Counts;

  model Given
    parameter Boolean b(fixed = false);
    parameter Integer n(fixed = false);
    Real x(start = 3, fixed = true);
    Real y = if b then n*time else 0;
  initial equation
    b = x > 2;
    n = integer(x) + 4;
  equation
    der(x) = 1;
  end Given;

  model DiscreteStart
    parameter Real a(fixed = false, start = 1);
    Real x(start = 1, fixed = true);
    discrete Real d(start = a, fixed = true);
  initial equation
    a^3 = 27;
  equation
    der(x) = d;
    when time > 0.5 then
      d = 0;
    end when;
  end DiscreteStart;

  model Condition
    parameter Real a(fixed = false, start = 1);
    Integer n(start = 0, fixed = true);
  initial equation
    a^2 = 0.25;
  equation
    when time > a then
      n = 1;
    end when;
  end Condition;

  model Clock
    parameter Real a(fixed = false, start = 1);
    Integer n(start = 0, fixed = true);
  initial equation
    a^2 = 0.0625;
  equation
    when sample(a, a) then
      n = pre(n) + 1;
    end when;
  end Clock;

  model Circle
    parameter Real p(fixed = false) = 2*q;
    parameter Real q(fixed = false, start = 0.5) = cos(p);
    Real y = p*time;
  end Circle;

  model Backwards
    parameter Real p = q + r;
    parameter Real q = 2*s;
    parameter Real r(fixed = false, start = 0);
    parameter Real s(fixed = false, start = 0);
    Real y = time*p;
  initial equation
    p = 5;
    r = 1;
  end Backwards;

  model Elements
    parameter Real a(fixed = false, start = 1);
    parameter Real v[3] = {a, 2*a, 3*a};
    Real y = sum(v)*time;
  initial equation
    a^2 = 9;
  end Elements;

  model Branch
    parameter Real a(fixed = false, start = 1);
    Real x(start = 1, fixed = true);
    Real y;
  initial equation
    a^2 = 9;
  equation
    der(x) = 0;
    if a > 2 then
      y = 1;
    else
      y = 2;
    end if;
  end Branch;

  model SwitchedRate
    parameter Real a(fixed = false, start = 1);
    Real x(start = 0, fixed = true);
  initial equation
    a^2 = 9;
  equation
    der(x) = if a > 2 then 1 else 2;
  end SwitchedRate;

  model TwoByTwo
    parameter Real a(fixed = false);
    parameter Real b(fixed = false);
    Real x(start = 2, fixed = true);
    Real y = (a + b)*time;
  initial equation
    a + b = x + 3;
    a - b = 1;
  equation
    der(x) = 0;
  end TwoByTwo;

  model FromARate
    parameter Real a(fixed = false, start = 1);
    Real x(start = 1, fixed = true);
  initial equation
    der(x) = -3;
  equation
    der(x) = -a*x;
  end FromARate;

  model FromADiscrete
    parameter Integer n(fixed = false, start = 1);
    Real y = n*time;
    Integer k(start = 3, fixed = true);
  initial equation
    n = k;
  equation
    when time > 0.5 then
      k = 4;
    end when;
  end FromADiscrete;

  model FromAVariable
    parameter Real a(fixed = false, start = 1);
    Real u = a*sin(time + 1);
    Real x(start = 0, fixed = true);
  initial equation
    u = 2;
  equation
    der(x) = a;
  end FromAVariable;

  model CircleOfBindings
    parameter Real a(fixed = false, start = 1) = b/2 + 1;
    parameter Real b(fixed = false, start = 1) = a/2 + 1;
    Real y = (a + b)*time;
  end CircleOfBindings;

  model ThreeByThree
    parameter Real a[3](each fixed = false, start = {1, 1, 1});
    Real y = sum(a)*time;
  initial equation
    a[1] + a[2] = 3;
    a[2] + a[3] = 5;
    a[1] + a[3] = 4;
  end ThreeByThree;

  model Limits
    parameter Real a(fixed = false, start = 1);
    parameter Real lim = 2*a;
    Real x(start = 0, fixed = true);
    Real y = min(x, lim);
    Real z = if x > lim then 1 else 0;
    Integer n(start = 0, fixed = true);
  initial equation
    a^2 = 0.0625;
  equation
    der(x) = 1;
    when x > lim then
      n = pre(n) + 1;
    end when;
  end Limits;

  model LateThreshold
    parameter Real a(fixed = false, start = -5);
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  initial equation
    a^3 = 0.125;
  equation
    der(x) = 1;
    when x > a then
      n = 1;
    end when;
  end LateThreshold;

  model DelayTime
    parameter Real a(fixed = false, start = 1);
    Real x(start = 0, fixed = true);
    Real u = delay(x, a);
  initial equation
    a^2 = 0.25;
  equation
    der(x) = 1;
  end DelayTime;

  model BoundCondition
    parameter Real a(fixed = false, start = 1);
    parameter Boolean c = a > 2;
    Real x(start = 0, fixed = true);
  initial equation
    a^2 = 9;
  equation
    if c then
      der(x) = 1;
    else
      der(x) = 2;
    end if;
  end BoundCondition;

  model ChosenEquation
    parameter Real a(fixed = false, start = 1);
    Real x(start = 1);
  initial equation
    a^2 = 9;
    if a < 2 then
      x = 5;
    else
      x = 7;
    end if;
  equation
    der(x) = 0;
  end ChosenEquation;

  Chain chain;
  Implicit implicit;
  StartInACircle startInACircle;
  Guess guess;
  Counts counts;
  Given given;
  DiscreteStart discreteStart;
  Condition condition;
  Clock clock;
  Circle circle;
  Backwards backwards;
  Elements elements;
  Branch branch;
  SwitchedRate switchedRate;
  TwoByTwo twoByTwo;
  FromARate fromARate;
  FromADiscrete fromADiscrete;
  FromAVariable fromAVariable;
  CircleOfBindings circleOfBindings;
  ThreeByThree threeByThree;
  Limits limits;
  LateThreshold lateThreshold;
  DelayTime delayTime;
  BoundCondition boundCondition;
  ChosenEquation chosenEquation;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end OpenParameters;
