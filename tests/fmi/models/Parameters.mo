// unit: stop 2
// unit: set k=3
// unit: set off=0.5
model Parameters
  parameter Real k(unit = "1/s") = 1 "rate";
  parameter Real off = 0;
  parameter Real both = 2*k + off;
  parameter Integer m = 2;
  final parameter Real c = k^m;
  Real x, y(start = 1, fixed = true);
initial equation
  x = both;
equation
  der(x) = -k*x + c;
  der(y) = if x > 2.9 then -y else k*y/10;
end Parameters;
