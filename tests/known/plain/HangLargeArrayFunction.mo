// saltus check HangLargeArrayFunction.mo         (ulimit -t 5)
// Expected: ends within 5 s: runs, or an error with a place that the array is too large.
// Happens: no end after 40 s of processor time. The same with a loop `for i in 1:1000 loop a := 2*a; end for` over 1e6 elements.
function f
  input Real x;
  output Real y;
protected
  Real a[2000000] = fill(x, 2000000);
algorithm
  y := sum(a);
end f;
model HangLargeArrayFunction
  Real y = f(time);
end HangLargeArrayFunction;
