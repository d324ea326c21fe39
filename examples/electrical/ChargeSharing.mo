// Two capacitors are connected by an ideal switch.
//
// What to look at: at t = 1 s both voltages jump to the one that conserves charge, (3*10 + 1*2)/4 = 8 V; the current of
// the switch is an impulse of 6 C. Half of a difference's energy is lost although there is no resistor.
//
// expect: c1.v at 1- = 10 within 1e-9
// expect: c1.v at 1+ = 8 within 1e-9
// expect: c2.v at 1+ = 8 within 1e-9
// expect: impulse switch.i at 1 = 6 within 1e-9
// expect: conserved 3*c1.v + c2.v within 1e-9

model ChargeSharing "Charge sharing between capacitors"
  import Saltus.Electrical.*;
  Capacitor c1(C = 3, v(start = 10));
  Capacitor c2(C = 1, v(start = 2));
  IdealSwitch switch;
  Ground ground;
  Saltus.Blocks.Sources.BooleanStep closing(startTime = 1);
equation
  connect(closing.y, switch.close);
  connect(c1.p, switch.p);
  connect(switch.n, c2.p);
  connect(c1.n, c2.n);
  connect(c2.n, ground.p);
  annotation(experiment(StopTime = 2, Interval = 0.01));
end ChargeSharing;
