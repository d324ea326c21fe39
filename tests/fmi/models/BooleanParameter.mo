// unit: stop 2
// unit: set fast=true
// unit: set steps=3
// unit: set kind=b:2
model BooleanParameter "Parameters that are no numbers"
  type Kind = enumeration(a, b);
  parameter Boolean fast = false;
  parameter Integer steps = 1;
  parameter Kind kind = Kind.a;
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = -(if fast then 2 else 1)*x;
  der(y) = (if kind == Kind.a then 1 else -1)*steps;
end BooleanParameter;
