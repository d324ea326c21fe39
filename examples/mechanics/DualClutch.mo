// A dual-clutch gearbox shifts from first to second gear without interrupting the torque.
//
// While one clutch opens, the other one closes. Each clutch slips, sticks or is open; which, is decided together.
//
// What to look at: the engine is locked to first gear (ratio 3), slips, and is locked to second gear (ratio 2)
// afterwards; vehicle.w never jumps.
//
// run: tolerance = 1e-9
// expect: engine.w at 0.5 = 37.6271186440678 within 1e-8
// expect: clutch1.w_rel at 0.5 = 0 within 1e-9
// expect: vehicle.w at 1 = 15.0847457627119 within 1e-8
// expect: event at 1.62173913043478 within 1e-8
// expect: engine.w at 1.7 = 48.5615327929257 within 1e-8
// expect: event at 1.81891937162845 within 1e-8
// expect: clutch2.w_rel at 3.5 = 0 within 1e-9
// expect: engine.w - 2*vehicle.w at 3.5 = 0 within 1e-8
// expect: vehicle.w at 3.5 = 23.9896012445755 within 1e-8
// expect: vehicle.w at 4 = 25.8414530964273 within 1e-8

model DualClutch "Gear shift with two friction clutches"
  import Saltus.Rotational.*;
  ConstantTorque drive(tau = 10);
  Inertia engine(J = 0.1, w(start = 30));
  FrictionClutch clutch1(tauMax = 40), clutch2(tauMax = 40);
  IdealGear gear1(ratio = 3), gear2(ratio = 2);
  Inertia vehicle(J = 5, w(start = 10));
  Saltus.Blocks.Sources.Ramp release(offset = 1, height = -1, startTime = 1, duration = 1);
  Saltus.Blocks.Sources.Ramp apply(offset = 0, height = 1, startTime = 1, duration = 1);
equation
  connect(drive.flange, engine.flange_a);
  connect(engine.flange_b, clutch1.flange_a);
  connect(engine.flange_b, clutch2.flange_a);
  connect(clutch1.flange_b, gear1.flange_a);
  connect(clutch2.flange_b, gear2.flange_a);
  connect(gear1.flange_b, vehicle.flange_a);
  connect(gear2.flange_b, vehicle.flange_a);
  connect(release.y, clutch1.pressure);
  connect(apply.y, clutch2.pressure);
  annotation(experiment(StopTime = 4, Interval = 0.01));
end DualClutch;
