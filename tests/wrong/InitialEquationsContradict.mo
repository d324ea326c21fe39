// run: E0601
// run: too much is given at the start
// run: InitialEquationsContradict.mo:9
// fix: `  x = 2;` -> ``
model InitialEquationsContradict "Two initial equations for one state"
  Real x;
initial equation
  x = 1;
  x = 2;
equation
  der(x) = 0;
end InitialEquationsContradict;
