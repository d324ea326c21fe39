// saltus check UnusedFunctionUnchecked.mo
// Expected: `undefined` is not known (check says what is wrong with models; a library of functions is never checked).
// Happens: status 0.
package UnusedFunctionUnchecked
  function f
    output Real y;
  algorithm
    y := undefined;
  end f;
  model M
    Real x = 1;
    model Local
      Real z = undefined;
    end Local;
  end M;
end UnusedFunctionUnchecked;
