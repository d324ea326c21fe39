// A delayed signal is exact for delays that vary with time, with a state, with an algebraic variable, and for no delay
// at all; it has a derivative; one that changes at an event changes the signal at that event; before the start it is
// the expression itself.
//
// x = sin(t), the delay is 0.2 + 0.1 sin(3t): at t = 2 the signal is sin(1.8 - 0.1 sin(6)).
//
// run: stop = 2
// run: tolerance = 1e-9
// expect: by_variable at 2 = 0.96711994686146 within 1e-8
// expect: by_state at 2 = 0.96711994686146 within 1e-8
// expect: by_time at 2 = 0.96711994686146 within 1e-8
// expect: slope at 2 = -0.17824605564949 within 1e-7
// expect: stepped at 1- = 0.9 within 1e-9
// expect: stepped at 1+ = 0.5 within 1e-9
// expect: stepped at 2 = 1.5 within 1e-9
// expect: undelayed at 2 = 2.8185948536514 within 1e-8
// expect: inverse at 0 = 0.25 within 1e-12
// expect: feedback at 0.5 = 2.5 within 1e-9
// expect: feedback at 1 = 1.375 within 1e-9

model VaryingDelay "Delays that vary"
  Real x(start = 0, fixed = true);
  Real delay_time;
  Real delay_state(start = 0.2, fixed = true);
  Real by_time, by_state, by_variable, slope, undelayed, double;
  Real ramp(start = 0, fixed = true);
  discrete Real step_delay(start = 0.1, fixed = true);
  Real stepped;
  Real feedback(start = 4, fixed = true), inverse;
equation
  der(x) = cos(time);
  delay_time = 0.2 + 0.1*sin(3*time);
  der(delay_state) = 0.3*cos(3*time);
  by_time = delay(x, 0.2 + 0.1*sin(3*time), 0.5);
  by_state = delay(x, delay_state, 0.5);
  by_variable = delay(x, delay_time, 0.5);
  slope = der(delay(x, 0.25));
  double = 2*x + 1;
  undelayed = delay(double, 0);
  der(ramp) = 1;
  when time >= 1 then
    step_delay = 0.5;
  end when;
  stepped = delay(ramp, step_delay, 1);
  // On [0, 0.5] the slope is 1 - 4; then the past falls by 3 per second: 2.5 - 3·0.5 + 1.5·0.25.
  der(feedback) = 1 - delay(feedback, 0.5);
  inverse = 1/delay(feedback, 0.5);
end VaryingDelay;
