// The product of a congruential generator is beyond 2^53, to which Integers are exact: what is left of it is rounded, and that is said.
// One that stays below is exact.
//
// model Products.TooLarge
// stop 1
// warns `1103515245*pre(s)`
// model Products.Exact
// stop 1
// silent
// final s 20137
package Products
  model TooLarge
    Integer s(start = 12345, fixed = true);
  equation
    when sample(0.1, 0.1) then
      s = mod(1103515245*pre(s) + 12345, 2147483648);
    end when;
  end TooLarge;

  model Exact
    Integer s(start = 12345, fixed = true);
  equation
    when sample(0.5, 0.5) then
      s = mod(110351*pre(s) + 12345, 32768);
    end when;
  end Exact;
end Products;
