// A rectifier with an ideal thyristor.
//
// Like a diode, but it starts to conduct only when it is fired.
//
// What to look at: conduction begins at 0.15 s of every period, and ends when the current would become negative.
//
// run: tolerance = 1e-10
// expect: event at 0.15 within 1e-9
// expect: event at 0.367154319280459 within 1e-8
// expect: v2 at 0.367154319280459 = 7.410911162717563 within 1e-7
// expect: event at 1.3572514938063083 within 1e-8
// expect: event at 4.356739173898558 within 1e-8
// expect: reference ref_rectifier_thyristor.csv v2=v2 within 1e-6

model ThyristorRectifier "Half-wave rectifier with an ideal thyristor"
  constant Real pi = 3.14159265358979323846;
  parameter Real V(unit = "V") = 10 "Amplitude of the source";
  parameter Real f(unit = "Hz") = 1 "Frequency of the source";
  parameter Real R1(unit = "Ohm") = 1 "Resistance of the source";
  parameter Real R2(unit = "Ohm") = 10 "Load";
  parameter Real C(unit = "F") = 0.1 "Capacitance";
  Real v0(unit = "V") "Voltage of the source";
  Real v1(unit = "V") "Voltage before the thyristor";
  Real v2(unit = "V", start = 0, fixed = true) "Voltage of the load";
  Real i(unit = "A") "Current through the thyristor";
  Real u(unit = "V") "Voltage of the thyristor";
  Real s "Current or voltage of the thyristor";
  discrete Real t0(start = 0, fixed = true) "Start of the period";
  Boolean fire "Gate signal";
  Boolean off(start = true, fixed = true) "Whether the thyristor blocks";
equation
  when sample(0, 1) then
    t0 = time;
  end when;
  fire = time >= t0 + 0.15 and time < t0 + 0.2;
  v0 = V*sin(2*pi*f*time);
  v0 - v1 = R1*i;
  u = v1 - v2;
  C*der(v2) = i - v2/R2;
  off = s < 0 or pre(off) and not fire;
  u = if off then s else 0;
  i = if off then 0 else s;
  annotation(experiment(StopTime = 5, Interval = 0.005));
end ThyristorRectifier;
