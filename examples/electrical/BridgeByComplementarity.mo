// A full bridge whose diodes are one line: complementarity conditions on arrays.
//
// What to look at: voltage and current of each diode are never negative, and one of them is always zero.
//
// run: tolerance = 1e-9
// expect: u at 0.05 = 9.521173684199736 within 1e-5
// expect: u at 0.1 = 5.303573874791 within 1e-5
// expect: v[1] >= -1e-9 always
// expect: i[1] >= -1e-9 always
// expect: v[4] >= -1e-9 always
// expect: i[4] >= -1e-9 always

model BridgeByComplementarity "Full bridge by complementarity"
  parameter Real C = 1e-3;
  parameter Real R = 10 "Load";
  parameter Real Rs = 0.1 "In series with the capacitor";
  Real v[4] "Voltages against the direction of the diodes";
  Real i[4];
  Real va "Left leg";
  Real vb "Right leg";
  Real vp;
  Real source "Current of the source";
  Real u(start = 0, fixed = true);
equation
  complementarity(v, i);
  v = {vp - va, vp - vb, va, vb};
  va - vb = 10*sin(100*time);
  source + i[3] = i[1];
  i[4] - source = i[2];
  vp = u + Rs*(i[1] + i[2]);
  C*der(u) = i[1] + i[2] - u/R;
  annotation(experiment(StopTime = 0.1, Interval = 0.001));
end BridgeByComplementarity;
