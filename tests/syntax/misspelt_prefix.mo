model M
  paramter Real a = 1;
  constnat Modelica.Units.SI.Mass m = 1;
  Real x;
end M;
// error[E0106] 2:3 `paramter` is not a keyword
// error[E0106] 3:3 `constnat` is not a keyword
