// Arrays in functions whose sizes are known only when the function runs.
//
package RunTimeSizes
// model RunTimeSizes.Locals
// final a 10
// final b 10
// final c 10
  model Locals "local arrays, slices, sums over a range"
    function f input Integer n; output Real s; protected Real a[n]; algorithm for i in 1:n loop a[i] := i; end for; s := sum(a); end f;
    function g input Real x[:]; input Integer n; output Real s; algorithm s := sum(x[1:n]); end g;
    function h input Integer n; output Real s; algorithm s := sum(i for i in 1:n); end h;
    Integer n = if time > 0.5 then 4 else 2;
    Real a = f(n);
    Real b = g({1, 2, 3, 4}, n);
    Real c = h(n);
  end Locals;
// model RunTimeSizes.Matrix
// final s 21
// final t 6
  model Matrix "two dimensions, rows and columns"
    function f input Integer n; input Integer m; output Real s; output Real t;
    protected Real a[n, m];
    algorithm
      for i in 1:n loop for j in 1:m loop a[i, j] := (i - 1)*m + j; end for; end for;
      s := sum(a);
      t := sum(a[1, :]);
    end f;
    Integer n = if time > 0.5 then 2 else 1;
    Real s, t;
  equation
    (s, t) = f(n, 3);
  end Matrix;
// model RunTimeSizes.Reverse
// final y[1] 4
// final y[2] 1
  model Reverse "an array is assigned what it was before"
    function f input Integer n; output Real y[2];
    protected Real a[n] = {i for i in 1:n};
    algorithm
      a := a[n:-1:1];
      y := {a[1], a[n]};
    end f;
    Integer n = if time > 0.5 then 4 else 3;
    Real y[2] = f(n);
  end Reverse;
// model RunTimeSizes.Elementwise
// final y 60
// final z 0
  model Elementwise "operators and functions of scalars, element by element"
    function square input Real x; output Real y; algorithm y := x*x; end square;
    function f input Integer n; input Real u; output Real y; output Real z;
    protected Real a[n] = {u*i for i in 1:n}; Real b[n]; Real c[n];
    algorithm
      b := 2*a .* a - zeros(n);
      c := -square(a) + b/2;
      y := sum(b);
      z := sum(c) + max(abs(c)) - min(sin(c));
    end f;
    Integer n = if time > 0.5 then 4 else 2;
    Real y, z;
  equation
    (y, z) = f(n, if time > 0.5 then 1 else 2);
  end Elementwise;
// model RunTimeSizes.Reductions
// final p 24
// final lo 1
// final hi 16
// final e 0
  model Reductions "product, min, max, and what an empty array gives"
    function f input Integer n; output Real p; output Real lo; output Real hi; output Real e;
    algorithm
      p := product(i for i in 1:n);
      lo := min(i^2 for i in 1:n);
      hi := max({i^2 for i in 1:n});
      e := sum(i for i in 1:n - 9);
    end f;
    Integer n = if time > 0.5 then 4 else 2;
    Real p, lo, hi, e;
  equation
    (p, lo, hi, e) = f(n);
  end Reductions;
// model RunTimeSizes.Nested
// final y 20
  model Nested "a sum inside a sum"
    function f input Integer n; output Real y; algorithm y := sum(sum(j for j in 1:i) for i in 1:n); end f;
    Integer n = if time > 0.5 then 4 else 2;
    Real y = f(n);
  end Nested;
// model RunTimeSizes.Loops
// final y 30
// final k 4
  model Loops "over the elements, and up to the size"
    function f input Integer n; output Real y; output Integer k;
    protected Real a[n] = {i for i in 1:n};
    algorithm
      y := 0;
      k := 0;
      for x in a loop y := y + x^2; end for;
      for i in 1:size(a, 1) loop k := k + 1; end for;
    end f;
    Integer n = if time > 0.5 then 4 else 2;
    Real y;
    Integer k;
  equation
    (y, k) = f(n);
  end Loops;
// model RunTimeSizes.Slices
// final y[1] 1
// final y[2] 7
// final y[3] 7
// final y[4] 4
  model Slices "a part of an array of known size is assigned"
    function f input Integer from; input Integer to; output Real y[4] = {1, 2, 3, 4};
    algorithm
      y[from:to] := fill(7, to - from + 1);
    end f;
    Real y[4] = f(2, if time > 0.5 then 3 else 2);
  end Slices;
// model RunTimeSizes.Differentiated
// final x 3.5
  model Differentiated "the sum of t^(i-1) for three terms, solved for by an equation"
    function f input Real u; input Integer n; output Real y;
    protected Real a[n];
    algorithm
      a[1] := 1;
      for i in 2:n loop a[i] := a[i - 1]*u; end for;
      y := sum(a);
    end f;
    Integer n = if time >= 0 then 3 else 2;
    Real x(start = 3);
  equation
    f(x, n) = 1 + 3.5 + 3.5^2;
  end Differentiated;
// model RunTimeSizes.Copied
// final y 10
  model Copied "an array is what it was before the loop over it"
    function f input Integer n; output Real y; protected Real a[n] = {i for i in 1:n};
    algorithm
      y := 0;
      for x in a loop a := zeros(n); y := y + x; end for;
    end f;
    Integer n = if time >= 0 then 4 else 2;
    Real y = f(n);
  end Copied;
// model RunTimeSizes.Bound
// final y 33
// final z 3
  model Bound "values of declarations"
    function total input Real x[:]; output Real y; algorithm y := sum(x); end total;
    function f input Real x[:]; input Integer n; output Real y; output Real z;
    protected Real s = sum(i for i in 1:n) + total(x); Real a[2] = x[1:n - 2]; Real b[n] = fill(a[1] + 1, n); parameter Integer k = 2;
    algorithm
      y := s + a[1] + a[2] + sum(b) + total(x) - b[n]*b[1]*b[k];
      z := if n > 3 then a[1] + a[2] else 0;
    end f;
    Integer n = if time >= 0 then 4 else 2;
    Real y, z;
  equation
    (y, z) = f({1, 2, 3, 4}, n);
  end Bound;
// model RunTimeSizes.Parameters
// final y 6
  model Parameters "parameters that are known decide sizes as before"
    function f input Real x[:]; input Integer n; output Real y[n]; algorithm y := x[1:n]; end f;
    parameter Integer n = 3;
    Real y = sum(f({1, 2*time, 3, 4}, n));
  end Parameters;
// model RunTimeSizes.Branch
// refused E0304 is known when
  model Branch "a sum that may not be evaluated"
    function f input Real x[:]; input Integer n; output Real y; algorithm y := if n > 0 then sum(x[1:n]) else 0; end f;
    Integer n = if time > 0.5 then 2 else 1;
    Real y = f({1, 2}, n);
  end Branch;
// model RunTimeSizes.Outside
// fails E0608 index 5 of `a` is outside 1..4
  model Outside
    function f input Integer n; output Real y; protected Real a[n]; algorithm for i in 1:n loop a[i] := i; end for; y := a[n + 1]; end f;
    Integer n = if time > 0.5 then 5 else 4;
    Real y = f(n);
  end Outside;
// model RunTimeSizes.NotAssigned
// fails E0608 an element of `a` is used before it has been assigned
  model NotAssigned
    function f input Integer n; output Real y; protected Real a[n]; algorithm a[1] := 1; y := sum(a); end f;
    Integer n = if time > 0.5 then 5 else 4;
    Real y = f(n);
  end NotAssigned;
// model RunTimeSizes.Negative
// fails E0608 an array cannot have -3 elements
  model Negative
    function f input Integer n; output Real y; protected Real a[n]; algorithm y := size(a, 1); end f;
    Integer n = if time >= 0 then -3 else 4;
    Real y = f(n);
  end Negative;
// model RunTimeSizes.Differ
// fails E0608 the sizes of these arrays differ: 4 and 3
  model Differ
    function f input Integer n; output Real y; protected Real a[n]; algorithm a := {i for i in 1:n - 1}; y := a[1]; end f;
    Integer n = if time >= 0 then 4 else 2;
    Real y = f(n);
  end Differ;
// model RunTimeSizes.TooLarge
// fails E0608 need more than 400 MB
  model TooLarge
    function f input Integer n; output Real y; protected Real a[n]; algorithm a[1] := 1; y := a[1]; end f;
    Integer n = if time >= 0 then 60000000 else 2;
    Real y = f(n);
  end TooLarge;
end RunTimeSizes;
