// Units are compared where both sides have one.
//
// model Units.Sum
// warning W0204 `m` of `a` and `s` of `b`
// model Units.Product
// warning W0204 `W` of `p`
// model Units.Derivative
// warning W0204 `m` of `v`
// model Units.Comparison
// warning W0204 `<`
// model Units.Scale
// warning W0204 `kW` of `p`
// model Units.Binding
// warning W0204 `V` of `u`
// model Units.Branch
// warning W0204 `else`
// model Units.Connection
// warning W0204 `V` of `a.c.v`
// model Units.Statement
// warning W0204 `m` of `x`
// model Units.Root
// warning W0204 `m` of `x`
// model Units.Right
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
    Real area(unit = "m3") = time;
    Real x(unit = "m");
  equation
    x = sqrt(area);
  end Root;
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
    Real phi(unit = "rad", displayUnit = "deg") = atan(v);
    Real angle = phi + 2;
    Real speed(unit = "m/s") = sqrt(v*v + v^2);
    Real torque(unit = "N.m") = f*s + max(e, power*tau);
    Real tau(unit = "s") = time;
    Real n(unit = "1") = s;
    Real x = r + 3;
  equation
    der(s) = v;
    m*der(v) = f;
  end Right;
end Units;
