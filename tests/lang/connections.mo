// model Inside
// equation net.r1.p.i - net.p.i + net.r2.p.i = 0.0
// equation source.p.i + net.p.i = 0.0
// unknowns 16
connector Pin
  Real v;
  flow Real i;
end Pin;

model Resistor
  Pin p;
  Pin n;
  parameter Real R = 1;
equation
  p.v - n.v = R*p.i;
  p.i + n.i = 0;
end Resistor;

model Net
  Pin p;
  Resistor r1;
  Resistor r2(R = 2);
  Pin n;
equation
  connect(r1.p, p);
  connect(r2.p, p);
  connect(r1.n, n);
  connect(r2.n, n);
end Net;

model Source
  Pin p;
  Pin n;
equation
  p.v - n.v = 1;
  n.v = 0;
end Source;

model Inside
  Source source;
  Net net;
equation
  connect(source.p, net.p);
  connect(source.n, net.n);
end Inside;

// model Arrays
// equation lone.i = 0.0
model Part
  Pin p;
  Pin q[2];
equation
  p.v = 1;
  q.v = {2, 3};
end Part;

model Arrays
  Part part;
  Pin lone;
  Load load[2];
  Real v[2] = load.p.v;
equation
  for i in 1:2 loop
    connect(part.q[i], load[i].p);
  end for;
  lone.v = 5;
end Arrays;

model Load
  Pin p;
equation
  p.i = p.v;
end Load;

// model Mixing
// equation sink.h = noEvent((max(-left.port.m, 1e-10) * left.port.h + max(-right.port.m, 1e-10) * right.port.h) / (max(-left.port.m, 1e-10) + max(-right.port.m, 1e-10)))
// unknowns 10
connector Port
  Real p;
  flow Real m;
  stream Real h;
end Port;

model Inflow
  Port port;
  parameter Real m = 1, h = 10;
equation
  port.m = -m;
  port.h = h;
end Inflow;

model Outflow
  Port port;
  Real h = inStream(port.h);
equation
  port.p = 1;
  port.h = 0;
end Outflow;

model Mixing
  Inflow left(h = 10);
  Inflow right(h = 20, m = 3);
  Outflow sink;
equation
  connect(left.port, sink.port);
  connect(right.port, sink.port);
end Mixing;

// model Loop
// unknowns 21
record Reference
  Real x;
  function equalityConstraint
    input Reference a;
    input Reference b;
    output Real residual[0];
  algorithm
    residual := zeros(0);
  end equalityConstraint;
end Reference;

connector Frame
  Real v;
  flow Real f;
  Reference R;
end Frame;

model Link
  Frame a;
  Frame b;
equation
  Connections.branch(a.R, b.R);
  a.R = b.R;
  a.f + b.f = 0;
  a.v - b.v = a.f;
end Link;

model Fixed
  Frame a;
equation
  Connections.root(a.R);
  a.R.x = 1;
  a.v = 0;
end Fixed;

model Loop
  Fixed fixed;
  Link a, b, c;
equation
  connect(fixed.a, a.a);
  connect(a.b, b.a);
  connect(b.b, c.a);
  connect(c.b, a.a);
end Loop;

// model Counted
// declaration parameter Integer used.n = 1
// equation used.x = 1.0
// equation unused.x = 0.0
model Counting
  Pin p;
  parameter Integer n = 1;
  Real x = if cardinality(p) > 0 then 1 else 0;
equation
  if cardinality(p) > 0 then
    p.v = 1;
  else
    p.v = 2;
  end if;
end Counting;

model Counted
  Counting used;
  Counting unused;
  Load load;
equation
  connect(used.p, load.p);
end Counted;

// model TwoSources
// error E0404 both sources
connector Out = output Real;

block Constant
  Out y = 1;
end Constant;

model TwoSources
  Constant a;
  Constant b;
equation
  connect(a.y, b.y);
end TwoSources;
