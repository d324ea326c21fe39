model MissingSemicolon
  parameter Real a = 1
  parameter Real b = 2;
  Real x
equation
  x = a
  + b;
  der(x) = 1
  when x > 1 then
    reinit(x, 0)
  end when;
algorithm
  x := 1
end MissingSemicolon
// error[E0102] 2:23 missing `;` behind this element
// error[E0102] 4:9 missing `;` behind this element
// error[E0102] 8:13 missing `;` behind an equation
// error[E0102] 10:17 missing `;` behind an equation
// error[E0102] 13:9 missing `;` behind a statement
// error[E0102] 14:21 missing `;` behind the class
