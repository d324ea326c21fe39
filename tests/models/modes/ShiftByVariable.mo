// A gear shift whose ratio is a variable of its own, and one whose ratio is a discrete variable set by a when.
//
// expect: w1 at 1+ = 7.333333333333333 within 1e-9
// expect: w2 at 1+ = 3.6666666666666665 within 1e-9
// expect: u1 at 1+ = 7.333333333333333 within 1e-9
// expect: u2 at 1+ = 3.6666666666666665 within 1e-9

model ShiftByVariable
  Real w1(start = 9), w2(start = 3), tau, ratio;
  Real u1(start = 9), u2(start = 3), torque;
  discrete Real r(start = 3, fixed = true);
equation
  ratio = if time >= 1 then 2 else 3;
  w1 = ratio*w2;
  der(w1) = -tau;
  5*der(w2) = ratio*tau;
  when time >= 1 then
    r = 2;
  end when;
  u1 = r*u2;
  der(u1) = -torque;
  5*der(u2) = r*torque;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end ShiftByVariable;
