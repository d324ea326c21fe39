// A PID controller with limits holds the speed of a motor.
//
// What to look at: the voltage stays at its limit while the motor speeds up; the integral is held there, so that the speed
// does not overshoot by much. At t = 2 s a load is applied.
//
// run: tolerance = 1e-8
// expect: voltage.v <= 24.0000001 always
// expect: event at 0.1258629679693801 within 1e-6
// expect: rotor.w at 2 = 99.89244473006502 within 1e-5
// expect: rotor.w at 5 = 99.99655906982854 within 1e-5

model SpeedControl "Speed control of a motor"
  import Saltus.Electrical.*;
  SignalVoltage voltage;
  Resistor resistance(R = 0.5);
  Inductor winding(L = 1e-3);
  EMF motor(k = 0.1);
  Ground ground;
  Saltus.Rotational.Inertia rotor(J = 5e-3);
  Saltus.Rotational.TorqueSource load;
  Saltus.Rotational.SpeedSensor sensor;
  Saltus.Blocks.Continuous.PID controller(k = 2, Ti = 0.5, Td = 0.01, yMax = 24);
  Saltus.Blocks.Sources.Constant reference(k = 100);
  Saltus.Blocks.Sources.Step torque(height = -0.5, startTime = 2);
  Saltus.Blocks.Continuous.FirstOrder filter(T = 0.02);
equation
  connect(reference.y, controller.reference);
  connect(sensor.w, filter.u);
  connect(filter.y, controller.measured);
  connect(controller.y, voltage.u);
  connect(voltage.p, resistance.p);
  connect(resistance.n, winding.p);
  connect(winding.n, motor.p);
  connect(motor.n, voltage.n);
  connect(voltage.n, ground.p);
  connect(motor.flange, rotor.flange_a);
  connect(rotor.flange_b, sensor.flange);
  connect(torque.y, load.tau);
  connect(load.flange, rotor.flange_b);
  annotation(experiment(StopTime = 5, Interval = 0.01));
end SpeedControl;
