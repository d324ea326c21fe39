// The inverse is wrong on purpose: the results tell that it is used.
//
// model Inverses.Solved
// stop 1
// final u 42
// final y 2
// model Inverses.Numerically
// stop 1
// final u 1
package Inverses
  function f
    input Real u;
    input Real k;
    output Real y;
  algorithm
    y := k*(u^3 + u);
    annotation(inverse(u = f_inverse(y, k)));
  end f;

  function f_inverse
    input Real y;
    input Real k;
    output Real u;
  algorithm
    u := 40 + k*y;
  end f_inverse;

  model Solved
    Real y = 1 + time;
    Real u;
  equation
    y = f(u, 1);
  end Solved;

  model Numerically "u is not an argument by itself: no inverse for it"
    Real y = 1 + time;
    Real u(start = 1);
  equation
    y = f(2*u - 1, 1);
  end Numerically;
end Inverses;
