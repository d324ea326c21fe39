// What models may not say of events, attributes and derivatives.
//
// model Rules.EqualReals
// error E0311 `==` between Real values that vary
// model Rules.UnequalReals
// error E0311 `<>` between Real values that vary
// model Rules.EqualToCount
// error E0311 `==` between Real values that vary
// model Rules.EqualWithoutEvents
// error E0311 `==` between Real values that vary
// model Rules.EqualDiscrete
// error E0311 `==` between Real values that vary
// model Rules.EqualInAlgorithm
// error E0311 `==` between Real values that vary
// model Rules.EqualParameters
// variable y
// model Rules.EqualInFunction
// variable y
// model Rules.DerivativeOfDiscrete
// error E0301 `der` of what changes at events only
// model Rules.DerivativeOfPrevious
// error E0301 `der` of what changes at events only
// model Rules.DerivativeOfProduct
// variable y
// model Rules.EdgeOfExpression
// error E0301 `edge` of an expression
// model Rules.ChangeOfExpression
// error E0301 `change` of an expression
// model Rules.ReinitInAlgorithm
// error E0311 `reinit` in an algorithm section
// model Rules.VaryingStart
// error E0303 the attribute `start` of `x` cannot depend on `y`, which varies with time
// model Rules.VaryingLimit
// error E0303 the attribute `min` of `x` cannot depend on `time`, which varies with time
// model Rules.FinalUnit
// error E0206 `unit` of `a` is final in its type
// model Rules.OpenUnit
// variable a
// model Rules.SmoothHalf
// error E0301 the order of `smooth`
package Rules
  type Angle = Real(final unit = "rad", min = 0);

  function isZero
    input Real u;
    output Boolean y;
  algorithm
    y := u == 0;
  end isZero;

  model EqualReals
    Real x = time;
    Boolean b = x == 0.5;
  end EqualReals;

  model UnequalReals
    Real x[2] = {time, 1};
    Integer n(start = 0, fixed = true);
  equation
    when x[1] <> x[2] then
      n = 1;
    end when;
  end UnequalReals;

  model EqualToCount
    Integer n = 1;
    Real y = if time == n then 1 else 0;
  end EqualToCount;

  model EqualWithoutEvents
    Real x = time;
    Boolean b = noEvent(x == 0.5);
  end EqualWithoutEvents;

  model EqualDiscrete
    discrete Real d(start = 0, fixed = true);
    Boolean b = d == 1;
  equation
    when time > 0.5 then
      d = 1;
    end when;
  end EqualDiscrete;

  model EqualInAlgorithm
    Real x = time;
    Boolean b;
  algorithm
    b := x == 0.5;
  end EqualInAlgorithm;

  model EqualParameters
    parameter Real p = 1;
    Real y = if p == 0 then time else 2*time;
  end EqualParameters;

  model EqualInFunction
    Real y = if isZero(time) then 1 else 2;
  end EqualInFunction;

  model DerivativeOfDiscrete
    discrete Real d(start = 0, fixed = true);
    Real y = der(2*d);
  equation
    when time > 0.5 then
      d = 1;
    end when;
  end DerivativeOfDiscrete;

  model DerivativeOfPrevious
    discrete Real d(start = 0, fixed = true);
    Real y = der(pre(d));
  equation
    when time > 0.5 then
      d = 1;
    end when;
  end DerivativeOfPrevious;

  model DerivativeOfProduct
    discrete Real d(start = 0, fixed = true);
    Real x = time;
    Real y = der(d*x);
  equation
    when time > 0.5 then
      d = 1;
    end when;
  end DerivativeOfProduct;

  model EdgeOfExpression
    Boolean b = edge(time > 0.5);
  end EdgeOfExpression;

  model ChangeOfExpression
    Integer n = integer(time);
    Boolean b = change(2*n);
  end ChangeOfExpression;

  model ReinitInAlgorithm
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
  algorithm
    when x > 1 then
      reinit(x, 0);
    end when;
  end ReinitInAlgorithm;

  model VaryingStart
    Real y = time;
    Real x(start = y, fixed = true);
  equation
    der(x) = 1;
  end VaryingStart;

  model VaryingLimit
    Real x(min = time) = 2*time;
  end VaryingLimit;

  model FinalUnit
    Angle a(unit = "deg") = time;
  end FinalUnit;

  model OpenUnit
    Angle a(min = -1, displayUnit = "deg") = time;
  end OpenUnit;

  model SmoothHalf
    Real y = smooth(0.5, time);
  end SmoothHalf;
end Rules;
