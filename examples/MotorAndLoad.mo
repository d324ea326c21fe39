// An electric motor drives a load through an ideal clutch.
//
// A voltage source charges a capacitor through a resistor; the capacitor feeds a motor. The clutch is
// engaged until t = 100 s, open until t = 300 s, then engaged again. No `reinit` is written anywhere:
// what happens when the clutch engages follows from the equations.
//
// What to look at:
//   - at the start the motor stands still and the load turns with 10 rad/s: both jump to 6.4 rad/s;
//   - at t = 100 s the clutch opens: the motor runs away from the load, nothing jumps;
//   - at t = 300 s the clutch engages: both jump to a common speed of 32.07 rad/s, the capacitor voltage
//     jumps with them, and the torque of the clutch is an impulse of 1.773 N.m.s.
//
// expect: rotor.w at 0 = 6.4 within 1e-9
// expect: load.w at 0 = 6.4 within 1e-9
// expect: capacitor.u at 0 = 1.6 within 1e-9
// expect: rotor.w at 100 = 27.63925077663954 within 1e-7
// expect: rotor.w at 300- = 39.95221433063844 within 1e-6
// expect: load.w at 300- = 27.63925077663954 within 1e-7
// expect: rotor.w at 300+ = 32.07191765607914 within 1e-6
// expect: impulse clutch.tau at 300 = 1.773066751775842 within 1e-5
// expect: reference ref_motor_and_load.csv rotor.w=w1, load.w=w2, capacitor.u=u within 1e-5
// analyze: mode clutch.engaged: index 2; states capacitor.u
// analyze: mode not clutch.engaged: index 2; states capacitor.u, load.w
// analyze: clutch.engaged -> not clutch.engaged: accepted; height 0; says all states keep their values
// analyze: not clutch.engaged -> clutch.engaged: accepted; height 1; jumps capacitor.u, rotor.w, load.w; facts capacitor.u = motor.k*rotor.w; disabled rotor.w = load.w, rotor.w = load.w (differentiated); says `rotor.w` and `load.w` jump to a common value; says `capacitor.u` may jump; says `rotor.w = load.w` must hold from now on

connector Pin "Electrical pin"
  Real v(unit = "V") "Potential";
  flow Real i(unit = "A") "Current into the component";
end Pin;

connector Flange "Rotating shaft end"
  Real w(unit = "rad/s") "Angular velocity";
  flow Real tau(unit = "N.m") "Torque into the component";
end Flange;

partial model TwoPin "Component with two pins"
  Pin p "Positive pin";
  Pin n "Negative pin";
  Real u(unit = "V") "Voltage from p to n";
  Real i(unit = "A") "Current from p to n";
equation
  u = p.v - n.v;
  i = p.i;
  p.i + n.i = 0;
end TwoPin;

model Ground
  Pin p;
equation
  p.v = 0;
end Ground;

model Source "Constant voltage"
  extends TwoPin;
  parameter Real u0(unit = "V") = 10;
equation
  u = u0;
end Source;

model Resistor
  extends TwoPin;
  parameter Real R(unit = "Ohm") = 10;
equation
  u = R*i;
end Resistor;

model Capacitor
  extends TwoPin;
  parameter Real C(unit = "F") = 2;
equation
  C*der(u) = i;
end Capacitor;

model Motor "Ideal conversion between electrical and mechanical power"
  extends TwoPin;
  parameter Real k(unit = "V.s/rad") = 0.25 "Voltage per angular velocity";
  Flange flange;
equation
  u = k*flange.w;
  flange.tau = -k*i;
end Motor;

model Inertia
  parameter Real J(unit = "kg.m2") = 1;
  Flange a;
  Flange b;
  Real w(unit = "rad/s") "Angular velocity";
equation
  a.w = w;
  b.w = w;
  J*der(w) = a.tau + b.tau;
end Inertia;

model Clutch "Ideal clutch: rigid when engaged, no torque when open"
  input Boolean engaged;
  Flange a;
  Flange b;
  Real tau(unit = "N.m") "Torque passed on";
equation
  tau = a.tau;
  a.tau + b.tau = 0;
  if engaged then
    a.w = b.w;
  else
    tau = 0;
  end if;
end Clutch;

model MotorAndLoad "Motor with capacitor, clutch and load"
  Source source;
  Resistor resistor;
  Capacitor capacitor(u(start = 0));
  Ground ground;
  Motor motor;
  Inertia rotor(J = 0.1, w(start = 0));
  Clutch clutch(engaged = time < 100 or time >= 300);
  Inertia load(J = 0.4, w(start = 10));
equation
  connect(source.p, resistor.p);
  connect(resistor.n, capacitor.p);
  connect(capacitor.p, motor.p);
  connect(motor.n, capacitor.n);
  connect(capacitor.n, source.n);
  connect(source.n, ground.p);
  connect(motor.flange, rotor.a);
  connect(rotor.b, clutch.a);
  connect(clutch.b, load.a);
  annotation(experiment(StopTime = 500, Interval = 0.5, Tolerance = 1e-8));
end MotorAndLoad;
