// unit: stop 2
model Algorithm
  function collatz
    input Integer k; output Integer n;
  protected Integer m;
  algorithm
    n := 0; m := k;
    while m > 1 loop m := if mod(m, 2) == 0 then div(m, 2) else 3*m + 1; n := n + 1; end while;
  end collatz;
  Integer k(start = 1, fixed = true), n;
  Real x(start = 0, fixed = true), y;
algorithm
  when sample(0.1, 0.1) then k := pre(k) + 3; end when;
  y := 0;
  for i in 1:3 loop if x > i/4 then y := y + i*x; end if; end for;
equation
  n = collatz(k);
  der(x) = 1/(1 + n);
end Algorithm;
