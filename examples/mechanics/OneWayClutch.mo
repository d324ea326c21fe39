// A free wheel between a driven shaft and a load with drag.
//
// What to look at: the load runs ahead until the drive catches up with it; locked, both share one velocity; the clutch
// lets go when the torque would become negative.
//
// run: tolerance = 1e-9
// expect: event at 0.31332102041487 within 1e-8
// expect: event at 1.68133165515564 within 1e-8
// expect: load.w at 2 = 1.22235862927888 within 1e-7
// expect: drive.w at 5 = -4.53473985264307 within 1e-7
// expect: load.w at 5 = 0.577401331925697 within 1e-7
// expect: event at 7.0159513658334 within 1e-7
// expect: event at 7.90393761600458 within 1e-8
// expect: events 4
// expect: load.w at 8 = 0.585003215684254 within 1e-7
// expect: drive.w at 10 = -4.02909823573456 within 1e-7
// expect: load.w at 10 = 0.354822386342982 within 1e-8
// expect: clutch.tau >= -1e-8 always
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
