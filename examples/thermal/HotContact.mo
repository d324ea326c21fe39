// Two bodies of different temperature are pressed together.
//
// What to look at: at t = 10 s both jump to the common temperature that conserves energy; the heat flow is an impulse.
//
// expect: hot.T at 10- = 380 within 1e-12
// expect: hot.T at 10+ = 320 within 1e-9
// expect: cold.T at 10+ = 320 within 1e-9
// expect: impulse contact.Q_flow at 10 = 60000 within 1e-6
// expect: contact.Q_flow at 15 = 0 within 1e-9
// expect: conserved 1000*hot.T + 3000*cold.T within 1e-6

model HotContact "Ideal thermal contact"
  import Saltus.Thermal.*;
  HeatCapacitor hot(C = 1000, T(start = 380));
  HeatCapacitor cold(C = 3000, T(start = 300));
  ThermalContact contact;
  Saltus.Blocks.Sources.BooleanStep press(startTime = 10);
equation
  connect(press.y, contact.closed);
  connect(hot.port, contact.port_a);
  connect(contact.port_b, cold.port);
  annotation(experiment(StopTime = 20, Interval = 0.1));
end HotContact;
