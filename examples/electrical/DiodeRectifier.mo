// A rectifier with an ideal diode.
//
// The diode law is a curve with one parameter s: its current where it conducts, its voltage where it blocks. There is
// no forward voltage and no leakage.
//
// What to look at: v2 follows the source through R1 while the diode conducts and decays through R2 while it blocks.
//
// run: tolerance = 1e-10
// expect: event at 0.3552237757310271 within 1e-8
// expect: v2 at 0.3552237757310271 = 7.8929246936587365 within 1e-8
// expect: event at 1.0635388154804033 within 1e-8
// expect: event at 1.3512525426719841 within 1e-8
// expect: event at 4.351165860812078 within 1e-8
// expect: events 9
// expect: reference ref_rectifier_diode.csv v2=v2 within 1e-6
// analyze: mode off: index 1; states v2
// analyze: mode not off: index 1; states v2
// analyze: off -> not off: accepted; height 0; impulses; says all states keep their values
// analyze: not off -> off: accepted; height 0; impulses; says all states keep their values

model DiodeRectifier "Half-wave rectifier with an ideal diode"
  constant Real pi = 3.14159265358979323846;
  parameter Real V(unit = "V") = 10 "Amplitude of the source";
  parameter Real f(unit = "Hz") = 1 "Frequency of the source";
  parameter Real R1(unit = "Ohm") = 1 "Resistance of the source";
  parameter Real R2(unit = "Ohm") = 10 "Load";
  parameter Real C(unit = "F") = 0.1 "Capacitance";
  Real v0(unit = "V") "Voltage of the source";
  Real v1(unit = "V") "Voltage before the diode";
  Real v2(unit = "V", start = 0, fixed = true) "Voltage of the load";
  Real i(unit = "A") "Current through the diode";
  Real u(unit = "V") "Voltage of the diode";
  Real s "Current or voltage of the diode";
  Boolean off "Whether the diode blocks";
equation
  v0 = V*sin(2*pi*f*time);
  v0 - v1 = R1*i;
  u = v1 - v2;
  C*der(v2) = i - v2/R2;
  off = s < 0;
  u = if off then s else 0;
  i = if off then 0 else s;
  annotation(experiment(StopTime = 5, Interval = 0.005));
end DiodeRectifier;
