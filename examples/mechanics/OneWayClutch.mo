// A free wheel between a driven shaft and a load with drag.
//
// What to look at: the load runs ahead until the drive catches up with it; locked, both share one velocity; the clutch
// lets go when the torque would become negative.
//
// run: tolerance = 1e-9
// expect: drive.w at 10 = -4.029098236 within 1e-6
// expect: drive.w - load.w <= 1e-8 always

model OneWayClutch "Free wheel"
  import R = Saltus.Rotational;
  R.TorqueSource torque;
  Saltus.Blocks.Sources.Sine signal(amplitude = 3, f = 1/(2*Saltus.Units.pi), phase = Saltus.Units.pi/2);
  R.Inertia drive(J = 1, w(start = 0));
  R.OneWayClutch clutch;
  R.Inertia load(J = 2, w(start = 1));
  R.Damper drag(d = 0.5);
  R.Fixed housing;
equation
  connect(signal.y, torque.tau);
  connect(torque.flange, drive.flange_a);
  connect(drive.flange_b, clutch.flange_a);
  connect(clutch.flange_b, load.flange_a);
  connect(housing.flange, drag.flange_a);
  connect(drag.flange_b, load.flange_b);
  annotation(experiment(StopTime = 10, Interval = 0.02));
end OneWayClutch;
