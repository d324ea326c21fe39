// saltus simulate FunctionRuntimeSizes.mo --stop 1
// Expected at t = 1: a = b = c = 10 (n = 4). MLS 12.4.4: sizes of local arrays may depend on inputs; 10.1, 10.3.4, 10.5.
// Happens: E0304 "`n` is known when the function is called only", for each of the three.
model FunctionRuntimeSizes
  function f
    input Integer n;
    output Real s;
  protected
    Real a[n];
  algorithm
    for i in 1:n loop
      a[i] := i;
    end for;
    s := sum(a);
  end f;
  function g
    input Real x[:];
    input Integer n;
    output Real s;
  algorithm
    s := sum(x[1:n]);
  end g;
  function h
    input Integer n;
    output Real s;
  algorithm
    s := sum(i for i in 1:n);
  end h;
  Integer n = if time > 0.5 then 4 else 2;
  Real a = f(n);
  Real b = g({1, 2, 3, 4}, n);
  Real c = h(n);
end FunctionRuntimeSizes;
