// Clocks: when they tick, and what is computed at coincident ticks.
//
package Clocks
// model Clocks.Recursion
// stop 1
// final y 0.8852755577
// final n 11
// final h 0.1
// final first 0
  model Recursion "a sampled recursion, with what is known of its clock"
    Real x = time;
    Real xs, y(start = 0);
    Integer n(start = 0);
    Boolean first;
    Real h;
  equation
    xs = sample(x, Clock(1, 10));
    y = 0.5*previous(y) + xs^2*0.5 + 0.5*previous(y)*0;
    n = previous(n) + 1;
    first = firstTick(n);
    h = interval(n);
  end Recursion;
end Clocks;
