// unit: stop 2
// unit: ends 0.6931
model Ends
  Real x(start = 1, fixed = true);
equation
  der(x) = x;
  when x > 2 then terminate("enough"); end when;
end Ends;
