// Newton's method does not get from the start value to the solution: the simplified equation is solved first. Without one, the
// single unknown is bracketed.
//
// model Homotopy.Steep
// stop 1
// final x 3
// model Homotopy.WithoutSimplified
// stop 1
// final x 3
package Homotopy
  function saturated "flat far from its zero"
    input Real x;
    output Real y;
  algorithm
    y := tanh(30*(x - 3));
  end saturated;

  model Steep
    Real x(start = -40);
  equation
    0 = homotopy(saturated(x), x - 2.99);
  end Steep;

  model WithoutSimplified
    Real x(start = -40);
  equation
    0 = saturated(x);
  end WithoutSimplified;
end Homotopy;
