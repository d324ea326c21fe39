// saltus simulate ReinitOfBound.mo --stop 2
// Expected: x(1+) = 6, y(1+) = 12, x(2) = 6*exp(-1): reinit makes x a state (MLS 8.3.6), and y = 2*x follows.
// Happens: E0602 "no mode is consistent with its own conditions"; with `reinit(y, 12)` the run is right.
model ReinitOfBound
  Real x(start = 1, fixed = true), y;
equation
  y = 2*x;
  der(y) = -y;
  when time >= 1 then
    reinit(x, 6);
  end when;
end ReinitOfBound;
