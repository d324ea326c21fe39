// A tank fills up, runs over, and is emptied.
//
// What to look at: while water runs over the rim the level is a constant and no state, and spill carries the surplus. When
// the inflow stops the level falls; at the bottom the outlet draws air.
//
// run: tolerance = 1e-9
// expect: tank.level at 20 = 0.661704614955833 within 1e-8
// expect: event at 34.3692877838612 within 1e-6
// expect: tank.level at 80 = 1 within 1e-12
// expect: tank.spill at 80 = 0.002038 within 1e-12
// expect: tank.level at 120 = 0.510007732625206 within 1e-8
// expect: event at 155.344786740347 within 1e-6
// expect: events 3
// expect: tank.level at 199 = 0 within 1e-12
// expect: tank.air at 199 = 0.001 within 1e-12
// expect: tank.level >= -1e-8 always
// expect: tank.level <= 1.00000001 always

model WaterTank "Tank with overflow and empty limits"
  import Saltus.Hydraulic.*;
  OpenTank tank(A = 0.1, height = 1, R = 5e6);
  Atmosphere below(p = -5000) "Outlet lies lower than the tank";
  Saltus.Blocks.Sources.Step inflow(offset = 5e-3, height = -5e-3, startTime = 100);
equation
  connect(inflow.y, tank.inflow);
  connect(tank.port, below.port);
  annotation(experiment(StopTime = 200, Interval = 0.5));
end WaterTank;
