// unit: stop 2
// unit: fails 0.7
model SingularMode "A mode that has no solution"
  Real a, b, x(start = 0, fixed = true);
equation
  der(x) = 1;
  a = 2*time;
  if time < 0.7 then b = a + 1; else a = 5; end if;
end SingularMode;
