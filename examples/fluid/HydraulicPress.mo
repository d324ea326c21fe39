// A hydraulic press with a relief valve.
//
// The pump gives a constant flow. At the start the press stands still and the oil cannot be compressed: the pressure would
// be an impulse, so the relief valve opens at once. The press speeds up at the pressure of the valve until it takes the whole
// flow. Later the workpiece resists until the valve opens again and the press stops; the check valve then holds it.
//
// What to look at: the modes of the valves, and the pressure of the pump, which never exceeds 50 bar.
//
// run: tolerance = 1e-9
// expect: relief.dp at 0 = 5e6 within 1
// expect: event at 0.00200468333920163 within 1e-6
// expect: ram.v at 0.01 = 0.1 within 1e-9
// expect: relief.q at 0.01 = 0 within 1e-12
// expect: event at 0.997001503846248 within 1e-5
// expect: event at 1.06932267579279 within 1e-5
// expect: ram.s at 3 = 0.104160124346571 within 1e-6
// expect: ram.v at 3 = 0 within 1e-9
// expect: relief.dp <= 5000001 always

model HydraulicPress "Press with relief valve"
  import Saltus.Hydraulic.*;
  Atmosphere reservoir;
  Pump pump(q0 = 1e-4);
  CheckValve check;
  ReliefValve relief(dpMax = 5e6);
  Cylinder cylinder(A = 1e-3);
  Saltus.Translational.Mass ram(m = 100, s(start = 0), v(start = 0));
  Saltus.Translational.Spring workpiece(c = 5e4);
  Saltus.Translational.Damper loss(d = 200);
  Saltus.Translational.Fixed frame;
equation
  connect(reservoir.port, pump.port_a);
  connect(pump.port_b, check.port_a);
  connect(pump.port_b, relief.port_a);
  connect(relief.port_b, reservoir.port);
  connect(check.port_b, cylinder.port);
  connect(cylinder.flange, ram.flange_a);
  connect(frame.flange, workpiece.flange_a);
  connect(workpiece.flange_b, ram.flange_b);
  connect(frame.flange, loss.flange_a);
  connect(loss.flange_b, ram.flange_b);
  annotation(experiment(StopTime = 3, Interval = 0.002));
end HydraulicPress;
