model M
  final redeclare Real x;
  input parameter Real y;
  parameter input Real z;
  partial encapsulated model N
  end N;
end M;
// error[E0101] 2:9 `redeclare` is not allowed behind the prefixes before it
// error[E0101] 3:9 `parameter` is not allowed behind the prefixes before it
// error[E0101] 5:11 `encapsulated` is not allowed behind the prefixes before it
