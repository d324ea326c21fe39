model M function f input Real x; output Real y; algorithm y := 0; for i in 1:3 loop y := y + x^i; end for; end f; Real x = f(time); end M;
