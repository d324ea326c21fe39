// Models determine their own unknowns, wherever they are used.

// model LocallyUnbalanced
// warning E0403 the model `Open` has 1 unknown, but 0 equations of its own
model Open
  Real x;
end Open;

model LocallyUnbalanced
  Open a;
equation
  a.x = time;
end LocallyUnbalanced;

// model WhenSetsPart
// warning E0403 the model `Open` has 1 unknown, but 0 equations of its own
model WhenSetsPart
  Open s;
equation
  when time > 0.5 then
    s.x = 1;
  end when;
end WhenSetsPart;

// model TooMuchAndTooLittle
// warning E0403 the model `TooMuch` has 1 unknown, but 2 equations of its own
// warning E0403 the model `TooLittle` has 2 unknowns, but 1 equation of its own
connector Pin
  Real v;
  flow Real i;
end Pin;

model TooMuch
  Pin p;
equation
  p.v = 1;
  p.i = 2;
end TooMuch;

model TooLittle
  Pin p;
  Real x;
equation
  p.v = x;
end TooLittle;

model TooMuchAndTooLittle
  TooMuch a;
  TooLittle b;
equation
  connect(a.p, b.p);
end TooMuchAndTooLittle;

// model AlgorithmUnbalanced
// warning E0403 the block `Forgotten` has 2 unknowns, but 1 equation of its own
block Forgotten
  input Real u;
  output Real y;
  output Real z;
algorithm
  y := u;
end Forgotten;

model AlgorithmUnbalanced
  Forgotten f(u = time);
equation
  f.z = 2;
end AlgorithmUnbalanced;

// model Balanced
// nothing
record Data
  Real a;
  Real b[2] = {1, 2};
end Data;

connector Port
  Real p;
  flow Real m;
  stream Real h;
end Port;

model Source
  Port port;
  Pin pin[2];
  Data data(a = 3);
  input Real u = 4;
  output Real y;
  parameter Boolean more = false;
  Real s if more;
  Integer n(start = 0);
equation
  port.p = 1;
  port.h = 2;
  pin.v = {1, u};
  if time > 1 then
    y = 1;
  else
    y = 2;
  end if;
  when time > 2 then
    n = 3;
  end when;
end Source;

model Sink
  Port port;
equation
  port.m = 0;
  port.h = 1;
end Sink;

model Load
  Pin p;
equation
  p.v = 5*p.i;
end Load;

model Given
  Real x;
end Given;

model Balanced
  Source a, b(u = 3);
  Sink c, d;
  Load c2;
  Given g(x = 2*time);
equation
  connect(a.port, c.port);
  connect(b.port, d.port);
  connect(a.pin[2], c2.p);
end Balanced;

// Elements of arrays in buses that nothing names are not there.

// model PartOfArray
// nothing
// unknowns 6
expandable connector Bus
  Real w[3];
end Bus;

connector RealOutput = output Real;
connector RealInput = input Real;

block Constant
  RealOutput y = k;
  parameter Real k = 1;
end Constant;

block Receiver
  RealInput u;
end Receiver;

model PartOfArray
  Bus b;
  Constant s1(k = 4), s2(k = 5);
  Receiver r1, r2;
equation
  connect(s1.y, b.w[1]);
  connect(s2.y, b.w[2]);
  connect(b.w[1], r1.u);
  connect(b.w[2], r2.u);
end PartOfArray;

// model EqualToItself
// error E0403 `x` is said to be equal to itself
model EqualToItself
  Real x = x;
end EqualToItself;
