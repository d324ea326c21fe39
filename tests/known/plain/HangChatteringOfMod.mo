// saltus simulate HangChatteringOfMod.mo --stop 4 --tolerance 1e-7         (ulimit -t 5)
// Expected: E0603 at t = 1.52: v reaches 1.42, where mod(v, 1.42) jumps from 1.42 to 0 and both sides drive back.
// Happens: 1e-7: no end after 30 s (944087 events); default tolerance: completed without a word, 283640 events, 20 s; 1e-8: E0611 at once. Likewise
// `der(x) = floor(2.75*(time - x)) - 0.5*x` with 1e-8: no end after 20 s (422148 events).
model HangChatteringOfMod
  Real v(start = 0.9, fixed = true);
equation
  der(v) = mod(v, 1.42) - 0.7*v;
end HangChatteringOfMod;
