// A room with a heater and a thermostat with hysteresis.
//
// What to look at: the temperature swings between 291 K and 293 K; the heater switches exactly at the limits.
//
// run: tolerance = 1e-9
// expect: event at 277.580984279102 within 1e-8
// expect: event at 489.981982094205 within 1e-7
// expect: event at 679.24839829111 within 1e-7
// expect: event at 3490.92029637516 within 1e-6
// expect: events 18
// expect: room.T at 277.580984279102 = 293 within 1e-8
// expect: room.T at 489.981982094205 = 291 within 1e-8
// expect: room.T <= 293.00000001 always

model Thermostat "Thermostat with hysteresis"
  import Saltus.Thermal.*;
  HeatCapacitor room(C = 1e5, T(start = 290));
  ThermalConductor wall(G = 50);
  FixedTemperature outside(T = 273.15);
  HeatSource heater;
  TemperatureSensor sensor;
  Saltus.Blocks.Logical.Hysteresis cold(uLow = 291, uHigh = 293);
  Saltus.Blocks.Logical.Not on;
  Saltus.Blocks.Math.BooleanToReal power(yTrue = 2000);
equation
  connect(outside.port, wall.port_a);
  connect(wall.port_b, room.port);
  connect(heater.port, room.port);
  connect(sensor.port, room.port);
  connect(sensor.T, cold.u);
  connect(cold.y, on.u);
  connect(on.y, power.u);
  connect(power.y, heater.Q_flow);
  annotation(experiment(StopTime = 3600, Interval = 10));
end Thermostat;
