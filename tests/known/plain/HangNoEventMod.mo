// saltus simulate HangNoEventMod.mo         (ulimit -t 5)
// Expected: E0603 or E0611 within seconds: v reaches 0.5, where noEvent(mod(v, 0.5)) jumps and both sides drive back (the guide:
// what switches without events is watched where a run crawls).
// Happens: no end after 14 s (1.4 million steps, t = 1.703 of 2).
model HangNoEventMod
  Real x(start = 0.76, fixed = true), v(start = 0.95, fixed = true);
equation
  der(x) = sin(1.39*noEvent(if (v - time) > (0.07) then noEvent(if (0.36) > (0.01) then v else x) else tanh(2.95*time))) - 0.5*x;
  der(v) = (if abs(mod(time, 1.42)) > (0.16) then noEvent(if ((-0.81) - x) > (0.67) then noEvent(if x > (-0.4) then (-0.44) else (-0.26)) else mod(v, 0.5)) else tanh(1.23*(x - time))) - 0.7*v;
  annotation(experiment(StopTime = 2, Interval = 0.1, Tolerance = 1e-8));
end HangNoEventMod;
