model M
  annotation (Icon());
  Real x;
equation
  x = 1;
  annotation (Documentation(info = "x"));
end M;
// warning[W0103] 2:3 the annotation of a class belongs at its end
