// A diode in series with an inductor.
//
// While the diode blocks, the current is zero by equation and no state; while it conducts, it is a state. Tools that fix
// the states before the run cannot simulate this with an ideal diode.
//
// What to look at: the current starts at the zero crossing of the source, and ends later than the voltage because the
// inductor drives it on.
//
// run: tolerance = 1e-10
// expect: inductor.i at 0.005 = 2.27528288373031 within 1e-7
// expect: event at 0.0133803940679514 within 1e-8
// expect: inductor.i at 0.018 = 0 within 1e-12
// expect: diode.v at 0.005 = 0 within 1e-12
// expect: inductor.i at 0.025 = 2.27528288373031 within 1e-7
// expect: inductor.i >= -1e-9 always

model DiodeInductor "Half-wave rectifier with inductive load"
  import Saltus.Electrical.*;
  SineVoltage source(V = 10, f = 50);
  IdealDiode diode;
  Inductor inductor(L = 0.01);
  Resistor resistor(R = 2);
  Ground ground;
equation
  connect(source.p, diode.p);
  connect(diode.n, inductor.p);
  connect(inductor.n, resistor.p);
  connect(resistor.n, source.n);
  connect(source.n, ground.p);
  annotation(experiment(StopTime = 0.04, Interval = 5e-5));
end DiodeInductor;
