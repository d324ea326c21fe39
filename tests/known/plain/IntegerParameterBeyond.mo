// saltus simulate IntegerParameterBeyond.mo --stop 1
// Expected: an error for each (guarantees.md: "an Integer beyond 2^53: the run ends with the place and the values"), or the exact values:
// a = 9007199254740992, b = 3, c = 9, d = 146326063, e = 1, f (20! mod 1000000007 during the run) = 146326063.
// Happens: completed without a word; a = 9007199254740991, b = 2, c = 8, d = 146326016, e = 0, f = 146326016.
model IntegerParameterBeyond
  function factorial
    input Integer n;
    output Integer r;
  algorithm
    r := 1;
    for i in 1:n loop
      r := r*i;
    end for;
  end factorial;
  parameter Integer n = 9007199254740993;
  parameter Integer m = mod(n, 10);
  parameter Integer q = 94906267;
  parameter Integer q2 = q*q;
  parameter Integer p = factorial(20);
  parameter Integer big = integer(1e17);
  parameter Integer big1 = big + 1;
  Integer a = n - 1;
  Integer b = m;
  Integer c = mod(q2, 10);
  Integer d = mod(p, 1000000007);
  Integer e = big1 - big;
  Integer k = if time > 2 then 19 else 20;
  Integer f = mod(factorial(k), 1000000007);
end IntegerParameterBeyond;
