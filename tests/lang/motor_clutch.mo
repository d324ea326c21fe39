// model Drive
// unknowns 43
// variable capacitor.v
// equation der(inertia1.w) * inertia1.J = inertia1.a.tau + inertia1.b.tau
connector Pin
  Real v;
  flow Real i;
end Pin;

connector Flange
  Real w;
  flow Real tau;
end Flange;

partial model TwoPin
  Pin p;
  Pin n;
  Real v;
  Real i;
equation
  v = p.v - n.v;
  p.i + n.i = 0;
  i = p.i;
end TwoPin;

model Ground
  Pin p;
equation
  p.v = 0;
end Ground;

model Source
  extends TwoPin;
  parameter Real U = 12;
equation
  v = U;
end Source;

model Resistor
  extends TwoPin;
  parameter Real R = 1;
equation
  v = R*i;
end Resistor;

model Capacitor
  extends TwoPin(v(start = 0, fixed = true));
  parameter Real C = 0.1;
equation
  C*der(v) = i;
end Capacitor;

model Motor
  extends TwoPin;
  Flange flange;
  parameter Real k = 1;
equation
  v = k*flange.w;
  flange.tau = -k*i;
end Motor;

model Inertia
  Flange a;
  Flange b;
  parameter Real J = 1;
  Real w(start = 0);
equation
  a.w = w;
  b.w = w;
  der(w)*J = a.tau + b.tau;
end Inertia;

model Clutch
  Flange a;
  Flange b;
  input Boolean engaged;
equation
  a.tau + b.tau = 0;
  if engaged then
    a.w = b.w;
  else
    a.tau = 0;
  end if;
end Clutch;

model Drive
  Source source;
  Resistor resistor(R = 0.5);
  Capacitor capacitor;
  Motor motor;
  Ground ground;
  Inertia inertia1(J = 0.1);
  Inertia inertia2(J = 0.4, w(start = 10));
  Clutch clutch(engaged = time > 100);
equation
  connect(source.p, resistor.p);
  connect(resistor.n, capacitor.p);
  connect(resistor.n, motor.p);
  connect(capacitor.n, motor.n);
  connect(source.n, motor.n);
  connect(ground.p, source.n);
  connect(motor.flange, inertia1.a);
  connect(inertia1.b, clutch.a);
  connect(clutch.b, inertia2.a);
  annotation(experiment(StopTime = 500));
end Drive;
