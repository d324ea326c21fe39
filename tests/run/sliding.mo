// model Sliding.InExpression
// stop 6
// chattering slide
// final x 0
// final y 15
// model Sliding.InEquation
// stop 6
// chattering slide
// final x 0
// final y 9.333333333333334
// model Sliding.Stops
// stop 6
// fails E0603 on both sides of `x > 0`
// at 1
// model Sliding.BesideOthers
// stop 3
// fails E0603 on both sides of `x > 0`
// at 1
// model Sliding.OnTwoSurfaces
// stop 3
// chattering slide
// fails E0603 it goes on along another surface already
// at 2
// model Sliding.SilentAtStart
// stop 2
// fails E0603 `s > 0`
// at 0
// model Sliding.FromTheStart
// stop 4
// chattering slide
// final x 0
// final y 4
// model Sliding.ByRelay
// stop 4
// chattering slide
// final x 0
// final y -4
// model Sliding.WithSamples
// stop 6
// chattering slide
// final x 4
// final y -3
// final n 12
// model Sliding.NewValues
// stop 6
// chattering slide
// final x 0
// final y 7
// model Sliding.OnCircle
// stop 6
// chattering slide
// final r 1
// final x 0.9601702866503661
// final y -0.27941549819892586
// model Sliding.Counted
// stop 3
// chattering slide
// fails E0603 `n` changes every time
// at 1.25
// model Sliding.Jumping
// stop 3
// chattering slide
// fails E0603 states jump where the surface is crossed
// at 1
// model Sliding.ThroughFunction
// stop 3
// chattering slide
// final x 0
// model Sliding.OtherStates
// stop 3
// chattering slide
// fails E0603 cannot go on
// model Sliding.Delayed
// stop 3
// chattering slide
// fails E0603 delayed signals
// model Sliding.Terminated
// stop 5
// chattering slide
// final y 3
// model Sliding.Threshold
// stop 4
// chattering slide
// final x 0
// final n 1
// final y 3
// model Sliding.Plastic
// stop 3
// zeno rest
// final h 0
// final v 0
// model Sliding.TwoBalls
// stop 3
// zeno rest
// fails E0604 it goes on along another surface already
// at 0.8385
// model Sliding.TanksAtLimit
// stop 20
// zeno rest
// fails E0604 impacts of several conditions accumulate at once, or none
// at 6.6666666
// model Sliding.Lively
// stop 3
// zeno rest
// final n 3

package Sliding "Motion along switching surfaces and at rest"
  model InExpression
    Real x(start = 1, fixed = true), y(start = 0, fixed = true), u;
  equation
    u = if x > 0 then -1 else 2;
    der(x) = u;
    der(y) = (u + 1)^2;
  end InExpression;

  model InEquation
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  equation
    if x > 0 then
      der(x) = -1;
      der(y) = 1;
    else
      der(x) = 2;
      der(y) = 3;
    end if;
  end InEquation;

  model Stops
    extends InEquation;
  end Stops;

  model BesideOthers "Other conditions, clear of zero, are tried in vain"
    Real x(start = 1, fixed = true), y(start = 2, fixed = true);
  equation
    der(x) = if x > 0 then -1 else 1;
    der(y) = if y > 0 then -1 else 2;
  end BesideOthers;

  model OnTwoSurfaces
    extends BesideOthers;
  end OnTwoSurfaces;

  model SilentAtStart "A switch without events at its zero is no rounding error of the rates"
    Real x(start = 0.3, fixed = true), y(start = -0.4, fixed = true), s = 0.8*x + 0.6*y;
  equation
    der(x) = -1.7*x - 0.7*y + 0.6*noEvent(if s > 0 then -6 else 6);
    der(y) = -0.9*x - 1.9*y + 0.9*noEvent(if s > 0 then -6 else 6);
  end SilentAtStart;

  model FromTheStart
    Real x(start = 0, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = if x > 0 then -1 elseif x < 0 then 3 else 3;
    der(y) = der(x) + 1;
  end FromTheStart;

  model ByRelay "The relay remembers; what depends on it is combined"
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
    discrete Real u(start = -1, fixed = true);
  equation
    when x < 0 then
      u = 2;
    elsewhen x > 0 then
      u = -1;
    end when;
    der(x) = u;
    der(y) = if time < 1 then -1 else u - 1;
  end ByRelay;

  model WithSamples
    Real x(start = 1, fixed = true), y(start = 0, fixed = true), d;
    Integer n(start = 0, fixed = true);
  equation
    d = if time < 2 then 0.5 elseif time < 4 then -0.5 else 3;
    der(x) = (if x > 0 then -1 else 1) + d;
    der(y) = der(x) - d;
    when sample(0.25, 0.5) then
      n = pre(n) + 1;
    end when;
  end WithSamples;

  model NewValues
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = if x > 0 then -1 else 1;
    der(y) = der(x);
    when time > 2 then
      reinit(x, 0.5);
    end when;
    when time > 4 then
      reinit(y, 7);
    end when;
  end NewValues;

  model OnCircle
    Real x(start = 1.5, fixed = true), y(start = 0, fixed = true), r = x^2 + y^2;
  equation
    der(x) = -y + (if r > 1 then -x else x);
    der(y) = x + (if r > 1 then -y else y);
  end OnCircle;

  model Counted
    Real x(start = 1, fixed = true);
    Boolean b = x > 0;
    Integer n(start = 0, fixed = true);
  equation
    der(x) = (if b then -1 else 1) + 0.2;
    when b then
      n = pre(n) + 1;
    end when;
  end Counted;

  model Jumping
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = if x > 0 then -1 else 1;
    der(y) = 0;
    when x < 0 then
      reinit(y, pre(y) + 1);
    end when;
  end Jumping;

  model ThroughFunction
    function side
      input Real x;
      output Real y;
    algorithm
      y := if x > 0 then -1 else 1;
    end side;
    Real x(start = 1, fixed = true);
  equation
    der(x) = side(x);
  end ThroughFunction;

  model OtherStates "One side has a state more"
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  equation
    if x > 0 then
      der(x) = -1;
      der(y) = 1;
    else
      der(x) = 1;
      y = x;
    end if;
  end OtherStates;

  model Delayed
    Real x(start = 1, fixed = true), y = delay(x, 0.5);
  equation
    der(x) = (if x > 0 then -1 else 1) + 0.1*y;
  end Delayed;

  model Terminated
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
  equation
    der(x) = if x > 0 then -1 else 1;
    der(y) = 1;
    when y > 3 then
      terminate("far enough");
    end when;
  end Terminated;

  model Threshold "A condition is met on the way along the surface"
    Real x(start = 1, fixed = true), y(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = (if x > 0 then -1 else 1)*(if y > 1.5 then 2 else 1);
    der(y) = if x > 0 then 0 else 2;
    when y > 2 then
      n = pre(n) + 1;
    end when;
  end Threshold;

  model Plastic
    Real h(start = 1, fixed = true), v(start = 0, fixed = true);
  equation
    der(h) = v;
    der(v) = -9.81;
    when h <= 0 then
      reinit(v, 0);
    end when;
  end Plastic;

  model TwoBalls "The second would come to rest while the first is"
    Real h1(start = 1, fixed = true), v1(start = 0, fixed = true);
    Real h2(start = 1.5, fixed = true), v2(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(h1) = v1;
    der(v1) = -9.81;
    der(h2) = v2;
    der(v2) = -9.81;
    when h1 <= 0 then
      reinit(v1, -0.3*pre(v1));
    end when;
    when h2 <= 0 then
      reinit(v2, -0.2*pre(v2));
      n = pre(n) + 1;
    end when;
  end TwoBalls;

  model TanksAtLimit "Where both are empty nothing says what follows"
    Real x1(start = 1, fixed = true), x2(start = 1, fixed = true);
    Boolean first(start = true, fixed = true);
  equation
    der(x1) = (if first then 1 else 0) - 0.6;
    der(x2) = (if first then 0 else 1) - 0.7;
    when x2 <= 0 then
      first = false;
    elsewhen x1 <= 0 then
      first = true;
    end when;
  end TanksAtLimit;

  model Lively "Impacts that take nothing go on"
    Real h(start = 1, fixed = true), v(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(h) = v;
    der(v) = -8;
    when h <= 0 then
      reinit(v, -pre(v));
      n = pre(n) + 1;
    end when;
  end Lively;
end Sliding;
