// The derivative functions are wrong on purpose: the results tell that they are used.
//
// model Derivatives.Explicit
// stop 1
// final y 1
// final v 100
// model Derivatives.IndexReduction
// stop 1
// final s 1
// final w 100
// final a 100
// model Derivatives.SecondOrder
// stop 1
// final w 100
// final a 7777
// model Derivatives.LeftOut
// stop 1
// final fixed 50
// final varying 3
// final ignored 50
// model Derivatives.Nested
// stop 1
// final v 0.5
// final a -0.25
package Derivatives
  function square
    input Real x;
    output Real y;
  algorithm
    y := x^2;
    annotation(derivative = square_der);
  end square;

  function square_der
    input Real x;
    input Real dx;
    output Real dy;
  algorithm
    dy := 100*x*dx;
  end square_der;

  model Explicit
    Real y = square(time);
    Real v = der(y);
  end Explicit;

  model IndexReduction "position, speed and acceleration are prescribed by one equation"
    Real s, w, a;
  equation
    der(s) = w;
    der(w) = a;
    s = square(time);
  end IndexReduction;

  function cube
    input Real x;
    output Real y;
  algorithm
    y := x^3;
    annotation(derivative = cube_der);
  end cube;

  function cube_der
    input Real x;
    input Real dx;
    output Real dy;
  algorithm
    dy := 100*x*dx;
    annotation(derivative(order = 2) = cube_der2);
  end cube_der;

  function cube_der2
    input Real x;
    input Real dx;
    input Real ddx;
    output Real ddy;
  algorithm
    ddy := 7777*dx + 1e6*ddx;
  end cube_der2;

  model SecondOrder
    Real s, w, a;
  equation
    der(s) = w;
    der(w) = a;
    s = cube(time);
  end SecondOrder;

  function product
    input Real x;
    input Real k;
    output Real y;
  algorithm
    y := k*x;
    annotation(derivative(zeroDerivative = k) = product_der);
  end product;

  function product_der
    input Real x;
    input Real k;
    input Real dx;
    output Real dy;
  algorithm
    dy := 10*k*dx;
  end product_der;

  function cached "the second input is what the first one is, computed elsewhere"
    input Real x;
    input Real same;
    output Real y;
  algorithm
    y := x*same;
    annotation(derivative(noDerivative = same) = cached_der);
  end cached;

  function cached_der
    input Real x;
    input Real same;
    input Real dx;
    output Real dy;
  algorithm
    dy := 50*same*dx;
  end cached_der;

  model LeftOut
    parameter Real k = 5;
    Real a = product(time, k);
    Real b = product(time, 1 + time);
    Real c = cached(time, time);
    Real fixed = der(a) "10*k: the derivative function, k does not vary";
    Real varying = der(b) "1 + 2*time: k varies, so the statements are differentiated";
    Real ignored = der(c);
  end LeftOut;

  function sine "derivatives that lead back to the function end all the same"
    input Real x;
    output Real y;
  algorithm
    y := sin(x);
    annotation(derivative = sine_der);
  end sine;

  function sine_der
    input Real x;
    input Real dx;
    output Real dy;
  algorithm
    dy := 0.5*cosine(x)*dx;
  end sine_der;

  function cosine
    input Real x;
    output Real y;
  algorithm
    y := 1;
    annotation(derivative = cosine_der);
  end cosine;

  function cosine_der
    input Real x;
    input Real dx;
    output Real dy;
  algorithm
    dy := -0.5*dx + 0*sine(x);
  end cosine_der;

  model Nested
    Real s, v, a;
  equation
    der(s) = v;
    der(v) = a;
    s = sine(time);
  end Nested;
end Derivatives;
