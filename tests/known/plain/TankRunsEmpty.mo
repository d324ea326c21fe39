// saltus simulate TankRunsEmpty.mo --stop 1
// Expected: h(t) = (0.2 - t/2)^2 until t = 0.4, then 0; h(1) = 0.
// Happens: E0608 at t = 0.4: sqrt(-2.8e-31) is not defined. (The equation holds only while h > 0; a trial point beyond the event
// should lead to a shorter step, not to the end. MLS 8.5 tells users to write noEvent against this, so this is quality, not a
// violation; but `y = if x < 0.5 then sqrt(0.5 - x) else 0` with der(x) = 1 ends likewise, at the left limit of the event.)
model TankRunsEmpty
  Real h(start = 0.04, fixed = true);
equation
  der(h) = if h > 0 then -sqrt(h) else 0;
end TankRunsEmpty;
