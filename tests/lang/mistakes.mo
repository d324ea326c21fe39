// What is said about wrong models.
//
// model Mistakes.Circle
// error E0305 the value of the parameter `a` depends on itself
// model Mistakes.TooMany
// error E0403 has 2 unknowns, but 3 equations
// model Mistakes.ModifiedOuter
// error E0209 `p` is an outer component and cannot be modified here
// model Mistakes.TwoImports
// error E0201 `k` is imported from both
// model Mistakes.Redeclared
// error E0207 `x` is protected and cannot be redeclared as public
// model Mistakes.Twice
// error E0207 `m` is not replaceable any more
// model Mistakes.Through
// error E0202 looked up through a component
// model Mistakes.Stream
// error E0216 is a stream
// model Mistakes.Library
// error E0201 `Nowhere` is not known
// model Mistakes.NotFitting
// error E0219 does not fit
// model Mistakes.Clocked
// error E0301 `hold` of an expression
// error E0212 this is no constructor of a clock
// error E0301 the factor must be an Integer
// model Mistakes.Machine
// error E0407 this state machine has no initial state
package Mistakes
  model Clocked
    Real x(start = 1, fixed = true), sampled, filtered(start = 0), held;
  equation
    der(x) = -held;
    sampled = sample(x, Clock(period = 0.1));
    filtered = 0.5*previous(filtered) + subSample(sampled, -1);
    held = hold(2*filtered);
  end Clocked;

  model Machine
    block State
      Real y = 1;
    end State;
    State first;
  equation
    transition(first, first, true);
  end Machine;

  model Circle
    parameter Real a = b + 1;
    parameter Real b = c;
    parameter Real c = 2*a;
    Real x = a;
  end Circle;

  model TooMany
    Real x, y;
  equation
    x = sin(time);
    y = x;
    y = 2*x;
  end TooMany;

  model ModifiedOuter
    model A
      outer parameter Real p;
    end A;
    inner parameter Real p = 1;
    A a(p = 2);
  end ModifiedOuter;

  package P
    constant Real k = 1;
  end P;

  package Q
    constant Real k = 2;
  end Q;

  model TwoImports
    import Mistakes.P.*;
    import Mistakes.Q.*;
    Real x = k;
  end TwoImports;

  model Base
  protected
    replaceable Real x = 1;
  end Base;

  model Redeclared
    extends Base;
    redeclare Real x = 2;
  end Redeclared;

  model M1
    Real x = 1;
  end M1;

  model M2
    Real x = 2;
    Real y = 3;
  end M2;

  model Holder
    replaceable M1 m;
  end Holder;

  model Once
    extends Holder(redeclare M1 m);
  end Once;

  model Twice
    extends Once(redeclare M2 m);
  end Twice;

  model Outer
    model Inner
      Real y = 2;
    end Inner;
  end Outer;

  model Through
    Outer a;
    a.Inner b;
  end Through;

  model Stream
    stream Real h = 1;
  end Stream;

  model Library
    Nowhere.Source s;
  end Library;

  model NotFitting
    replaceable M1 m constrainedby M2;
  end NotFitting;
end Mistakes;
