// Integers beyond 2^53 end the run; nothing is rounded.
//
package LargeIntegers
// model LargeIntegers.Parameter
// refused E0512 the Integer 9007199254740993 is beyond 2^53
  model Parameter
    parameter Integer n = 9007199254740993;
    Integer a = n - 1;
  end Parameter;
// model LargeIntegers.Constant
// refused E0512 the Integer 9007199254740993 is beyond 2^53
  model Constant
    constant Integer n = 9007199254740993;
    Integer a = mod(n, 10);
  end Constant;
// model LargeIntegers.Computed
// fails E0609 the Integer q2 =
  model Computed
    parameter Integer q = 94906267;
    parameter Integer q2 = q*q;
    Integer c = mod(q2, 10);
  end Computed;
// model LargeIntegers.FromReal
// fails E0609 the Integer big =
  model FromReal
    parameter Real x = 1e17;
    parameter Integer big = integer(x);
    Integer e = big + 1 - big;
  end FromReal;
// model LargeIntegers.Evaluated
// refused E0512 the Integer 2432902008176640000 is beyond 2^53
  model Evaluated
    function factorial input Integer n; output Integer r; algorithm r := 1; for i in 1:n loop r := r*i; end for; end factorial;
    parameter Integer p = factorial(20);
  end Evaluated;
// model LargeIntegers.InFunction
// fails E0608 an Integer becomes
  model InFunction
    function factorial input Integer n; output Integer r; algorithm r := 1; for i in 1:n loop r := r*i; end for; end factorial;
    Integer k = if time > 0.5 then 20 else 3;
    Integer f = mod(factorial(k), 1000000007);
  end InFunction;
// model LargeIntegers.Between
// fails E0608 an Integer becomes
  model Between "the product is too large, though the result is not"
    function power input Integer b; input Integer e; input Integer m; output Integer r; algorithm r := 1; for i in 1:e loop r := mod(r*b, m); end for; end power;
    Integer e = if time > 0.5 then 9 else 1;
    Integer f = power(123456789, e, 1000000007);
  end Between;
// model LargeIntegers.Fits
// final f 720
  model Fits
    function factorial input Integer n; output Integer r; algorithm r := 1; for i in 1:n loop r := r*i; end for; end factorial;
    Integer k = if time > 0.5 then 6 else 3;
    Integer f = factorial(k);
    parameter Integer g = 9007199254740991;
  end Fits;
end LargeIntegers;
