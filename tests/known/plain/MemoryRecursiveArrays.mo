// saltus check MemoryRecursiveArrays.mo         (limit 1 GiB)
// Expected: runs within 1 GiB (50e6 numbers are 400 MB), or an error with a place.
// Happens: accepted with 1.54 GiB.
function f
  input Integer n;
  output Real y;
protected
  Real a[100000] = fill(1.0, 100000);
algorithm
  y := if n <= 0 then 0 else f(n - 1) + a[1];
end f;
model MemoryRecursiveArrays
  parameter Real y = f(500);
end MemoryRecursiveArrays;
