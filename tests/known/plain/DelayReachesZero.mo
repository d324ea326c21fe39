// saltus simulate DelayReachesZero.mo --stop 1
// Expected: y(t) = sin(10*(t - |sin(5*t)|)) where t > |sin(5*t)|, sin(10*0) = 0 before; e.g. y(1) = sin(10*(1 - 0.958924)) = 0.3993.
// Happens: E0610 "a delay becomes shorter than the shortest step", no place.
model DelayReachesZero
  Real y = delay(sin(10*time), abs(sin(5*time)), 1);
end DelayReachesZero;
