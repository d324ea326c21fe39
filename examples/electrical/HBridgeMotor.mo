// An H-bridge drives a motor forward, then backward.
//
// Four ideal switches with free-wheeling diodes. Until t = 0.1 s the first diagonal is pulsed, afterwards the second one.
//
// What to look at: current and velocity of the motor; while all switches are open, the current flows back into the source
// through the diodes until it is zero.
//
// run: tolerance = 1e-9
// expect: rotor.w at 0.05 = 20.8638487533192 within 1e-8
// expect: winding.i at 0.0506 = 9.37984272877409 within 1e-6
// expect: winding.i at 0.0998 = 6.57143326916427 within 1e-8
// expect: rotor.w at 0.1 = 37.6346251607219 within 1e-8
// expect: winding.i at 0.1006 = -4.74808523329311 within 1e-8
// expect: rotor.w at 0.15 = 8.93474133764126 within 1e-8
// expect: winding.i at 0.15 = -8.00870116009209 within 1e-7
// expect: rotor.w at 0.2 = -14.4865925170894 within 1e-8

model HBridgeMotor "H-bridge motor drive"
  import Saltus.Electrical.*;
  ConstantVoltage source(V = 24);
  IdealSwitch s1, s2, s3, s4;
  IdealDiode d1, d2, d3, d4;
  Resistor resistance(R = 1);
  Inductor winding(L = 2e-3);
  EMF motor(k = 0.1);
  Saltus.Rotational.Inertia rotor(J = 2e-3);
  Ground ground;
  Saltus.Blocks.Sources.Pulse pwm(period = 1e-3, width = 0.7);
  Saltus.Blocks.Sources.BooleanStep direction(startTime = 0.1, before = true);
  Saltus.Blocks.Logical.Not reverse;
  Saltus.Blocks.Logical.And forwardDrive, backwardDrive;
equation
  connect(direction.y, forwardDrive.u1);
  connect(pwm.y, forwardDrive.u2);
  connect(direction.y, reverse.u);
  connect(reverse.y, backwardDrive.u1);
  connect(pwm.y, backwardDrive.u2);
  connect(forwardDrive.y, s1.close);
  connect(forwardDrive.y, s4.close);
  connect(backwardDrive.y, s2.close);
  connect(backwardDrive.y, s3.close);
  connect(source.p, s1.p);
  connect(source.p, s3.p);
  connect(s1.n, s2.p);
  connect(s3.n, s4.p);
  connect(s2.n, source.n);
  connect(s4.n, source.n);
  connect(d1.p, s1.n);
  connect(d1.n, s1.p);
  connect(d2.p, s2.n);
  connect(d2.n, s2.p);
  connect(d3.p, s3.n);
  connect(d3.n, s3.p);
  connect(d4.p, s4.n);
  connect(d4.n, s4.p);
  connect(s1.n, resistance.p);
  connect(resistance.n, winding.p);
  connect(winding.n, motor.p);
  connect(motor.n, s3.n);
  connect(source.n, ground.p);
  connect(motor.flange, rotor.flange_a);
  annotation(experiment(StopTime = 0.2, Interval = 2e-4));
end HBridgeMotor;
