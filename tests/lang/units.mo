// Units are compared, with those that equations tell.
//
// model Units.Sum
// warning W0204 `m` of `a` against `s` of `b`
// model Units.Product
// warning W0204 `W` of `p` against `Ohm`
// model Units.Momentum
// warning W0204 `N` of `F` against `kg.m/s`
// model Units.Derivative
// warning W0204 `m/s` against `m` of `v`
// model Units.Comparison
// warning W0204 `<`
// model Units.Scale
// warning W0204 `kW` of `p`
// model Units.Binding
// warning W0204 `V` of `u` against `Ohm` of `r`
// model Units.Branch
// warning W0204 `else`
// model Units.Connection
// warning W0204 connected variables have different units: `Pa` of `b.c.v` against `V` of `a.c.v`
// model Units.Statement
// warning W0204 `m` of `x`
// model Units.Root
// warning W0204 `m` of `x` against `m(3/2)`
// model Units.Told
// warning W0204 `kg` of `z`
// model Units.ToldBackwards
// warning W0204 `kg(1/2).m(1/2)` of `y` against `m`
// model Units.Argument
// warning W0204 the input `x` of `Units.stretched` has the unit `m`, its argument `s` of `t`
// model Units.LongArgument
// warning W0204 the input `x` of `Units.longer` has the unit `m`, its argument `s` of `t`
// model Units.Result
// warning W0204 `kg` of `y` against `m`
// model Units.Body
// warning W0204 the units of the two sides of `:=` differ: `kg` of `y` against `m`
// model Units.Sine
// warning W0204 `sin` takes a number or an angle, and its argument has the unit `m` of `x`
// model Units.Delay
// warning W0204 `delay` takes a time in seconds
// model Units.Celsius
// warning W0204 `degC` of `b` against `K` of `a`
// model Units.Time
// warning W0204 `m` of `x` against `m/s`
// model Units.PerElement
// warning W0204 `s` of `x[2]` against `kg` of `y`
// model Units.Malformed
// warning W0208 `m^2` is not a unit
// model Units.Start
// warning W0204 `m` of `x` against `s` of `x0`
// model Units.Least
// warning W0204 the unit of `min` differs from that of the variable: `N` of `f` against `m`
// model Units.Greatest
// warning W0204 the unit of `max` differs from that of the variable: `N` of `f` against `kg` of `m`
// model Units.Size
// warning W0204 the unit of `nominal` differs from that of the variable: `N` of `f` against `J`
// model Units.Right
// nothing
// model Units.Free
// nothing
package Units
  model Sum
    Real a(unit = "m") = time;
    Real b(unit = "s") = 2*time;
    Real c(unit = "m") = a + b;
  end Sum;
  model Product
    Real u(unit = "V") = time;
    Real i(unit = "A") = 2*time;
    Real p(unit = "W") = u/i;
  end Product;
  model Momentum
    parameter Real m(unit = "kg") = 2;
    Real v(unit = "m/s") = time;
    Real F(unit = "N") = m*v;
  end Momentum;
  model Derivative
    Real x(unit = "m", start = 0, fixed = true);
    Real v(unit = "m") = 2;
  equation
    der(x) = v;
  end Derivative;
  model Comparison
    Real a(unit = "m") = time;
    Real b(unit = "K") = 0.5;
    Boolean c = a < b;
  end Comparison;
  model Scale
    Real p(unit = "kW") = q;
    Real q(unit = "W") = time;
  end Scale;
  model Binding
    parameter Real r(unit = "Ohm") = 2;
    parameter Real u(unit = "V") = r;
    Real x = u*time;
  end Binding;
  model Branch
    Real a(unit = "m") = time;
    Real b(unit = "kg") = 2*time;
    Real c = if time > 0.5 then a else b;
  end Branch;
  connector C1
    Real v(unit = "V");
    flow Real i(unit = "A");
  end C1;
  connector C2
    Real v(unit = "Pa");
    flow Real i(unit = "kg/s");
  end C2;
  model A
    C1 c;
  equation
    c.v = 1;
  end A;
  model B
    C2 c;
  equation
    c.i = 0;
  end B;
  model Connection
    A a;
    B b;
  equation
    connect(a.c, b.c);
  end Connection;
  model Statement
    Real t(unit = "s") = time;
    Real x(unit = "m");
  algorithm
    x := t;
  end Statement;
  model Root
    Real volume(unit = "m3") = time;
    Real x(unit = "m");
  equation
    x = sqrt(volume);
  end Root;
  model Told "y has no unit of its own, but that of x"
    Real x(unit = "m") = time;
    Real y = x;
    Real z(unit = "kg");
  equation
    z = y;
  end Told;
  model ToldBackwards "Known at last from the end of a chain"
    Real w;
    Real y;
    Real x(unit = "m") = time;
    Real z(unit = "kg");
    Real a(unit = "1") = time;
  equation
    z*a = w*y;
    w = y/x;
    y = x*a;
  end ToldBackwards;
  function stretched
    input Real x(unit = "m");
    output Real y(unit = "m");
  algorithm
    y := 2*x;
  end stretched;
  function longer
    input Real x(unit = "m");
    output Real y(unit = "m");
  algorithm
    y := x;
    while y < 5 loop
      y := y + x;
    end while;
  end longer;
  function inconsistent
    input Real x(unit = "m");
    output Real y(unit = "kg");
  algorithm
    y := 1;
    while y < 5 loop
      y := x;
    end while;
  end inconsistent;
  model Argument
    Real t(unit = "s") = time;
    Real y = stretched(t);
  end Argument;
  model LongArgument
    Real t(unit = "s") = time;
    Real y = longer(t);
  end LongArgument;
  model Result
    Real x(unit = "m") = 1 + time;
    Real y(unit = "kg") = longer(x);
  end Result;
  model Body
    Real x(unit = "m") = 1 + time;
    Real y(unit = "kg") = inconsistent(x);
  end Body;
  model Sine
    Real x(unit = "m") = time;
    Real y = sin(x);
  end Sine;
  model Delay
    parameter Real d(unit = "m") = 1;
    Real y = delay(time, d);
  end Delay;
  model Celsius
    Real a(unit = "K") = 300;
    Real b(unit = "degC") = a;
  end Celsius;
  model Time
    parameter Real a(unit = "m/s2") = 1;
    Real x(unit = "m") = a*time;
  end Time;
  model PerElement
    Real x[2](unit = {"m", "s"}) = {time, 2*time};
    Real l(unit = "m") = x[1];
    Real y(unit = "kg");
  equation
    x[2] = y;
  end PerElement;
  model Malformed
    Real x(unit = "m^2") = time;
  end Malformed;
  model Start
    parameter Real x0(unit = "s") = 2;
    Real x(unit = "m", start = x0, fixed = true);
  equation
    der(x) = -2*x;
  end Start;
  model Least
    parameter Real L(unit = "m") = 2;
    Real f(unit = "N", min = -L) = time;
  end Least;
  model Greatest
    parameter Real m(unit = "kg") = 2;
    Real f(unit = "N", max = m) = time;
  end Greatest;
  model Size
    parameter Real L(unit = "m") = 2, F(unit = "N") = 3;
    Real f(unit = "N", nominal = F*L) = time;
  end Size;
  model Right
    parameter Real m(unit = "kg") = 2;
    parameter Real r(unit = "mm") = 5;
    constant Real g(unit = "m/s2") = 9.81;
    Real s(unit = "m", start = 1, fixed = true);
    Real v(unit = "m/s", start = 0, fixed = true);
    Real f(unit = "N") = -m*g;
    Real e(unit = "J") = m*g*s + 0.5*m*v^2;
    Real power(unit = "W") = f*v;
    Real w(unit = "rad/s") = v/s;
    Real phi(unit = "rad", displayUnit = "deg") = atan(v/(2*v));
    Real angle = phi + 2;
    Real speed(unit = "m/s") = sqrt(v*v + v^2);
    Real torque(unit = "N.m") = f*s + max(e, power*tau);
    Real tau(unit = "s") = time;
    Real x = r + 3;
    Real T(unit = "K") = 300;
    Real Tc(unit = "degC") = T - 273.15;
    Real dT(unit = "K") = Tc - (Tc + dT0);
    parameter Real dT0(unit = "K") = 2;
    parameter Real F(unit = "N") = 2;
    Real limited(unit = "N", min = -F, max = 2*F, nominal = F) = f;
    Real unlimited(max = F) = s "Says nothing of its unit";
  equation
    der(s) = v;
    m*der(v) = f;
  end Right;
  model Free "What has no unit may have any"
    constant Real small = 1e-6;
    parameter Real k = 2;
    Real x(unit = "m") = sin(time) + small;
    Real y(unit = "s") = max(small, time);
    Real z(unit = "kg") = k*x;
    Real w(unit = "EUR") = x;
    Real i(unit = "A") = 2*x + 3*y;
    Real n(unit = "m") = 3*x;
    Integer count = integer(x);
    Real u(unit = "V") = if time < 0.5 then 0 else count;
    Real s(start = 1) "A voltage while it blocks, a current while it conducts";
    Boolean off = s < 0;
    Real ud(unit = "V") = if off then s else 0;
    Real id(unit = "A") = if off then 0 else s;
    Real p(start = 1) "Without units, where a factor of one per second is not written";
    Real q;
  equation
    der(p) = -q;
    der(q) = p;
    ud - 2 = -3*id;
  end Free;
end Units;
