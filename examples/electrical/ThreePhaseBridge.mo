// A three-phase diode bridge with inductive load.
//
// What to look at: the voltage of the load is the highest phase minus the lowest one, six pulses per period; the current
// moves from diode to diode at once, because the sources have no inductance.
//
// run: tolerance = 1e-9
// expect: event at 0.00166666666666667 within 1e-9
// expect: event at 0.00833333333333333 within 1e-9
// expect: event at 0.0183333333333333 within 1e-9
// expect: events 6
// expect: dc.v at 0.005 = 150 within 1e-8
// expect: dc.v at 0.0123 = 164.158303994537 within 1e-8
// expect: inductor.i at 0.005 = 23.5580184175156 within 1e-7
// expect: inductor.i at 0.0123 = 31.297245273711 within 1e-7
// expect: inductor.i at 0.02 = 32.8875945106868 within 1e-7
// expect: dc.v - inductor.v - load.v <= 1e-9 always
// expect: dc.v - inductor.v - load.v >= -1e-9 always

model ThreePhaseBridge "Six-pulse rectifier"
  import Saltus.Electrical.*;
  constant Real pi = Saltus.Units.pi;
  SineVoltage source[3](each V = 100, each f = 50, phase = {0, -2*pi/3, 2*pi/3});
  IdealDiode upper[3], lower[3];
  Inductor inductor(L = 20e-3);
  Resistor load(R = 5);
  VoltageSensor dc "Voltage of the bridge";
  Ground ground;
equation
  for k in 1:3 loop
    connect(source[k].n, ground.p);
    connect(source[k].p, upper[k].p);
    connect(source[k].p, lower[k].n);
    connect(upper[k].n, inductor.p);
    connect(lower[k].p, load.n);
  end for;
  connect(inductor.n, load.p);
  connect(dc.p, inductor.p);
  connect(dc.n, load.n);
  annotation(experiment(StopTime = 0.02, Interval = 2e-5));
end ThreePhaseBridge;
