// A ladder of capacitors and ideal diodes is pumped by four switches. When the second pair closes, a capacitor that was never charged
// comes in series with two charged ones that differ by the error of the integrator only: their loop is no impulse that decides
// which diodes conduct, although potentials jump at the same time.
//
// Expected values: 48,000 and 96,000 backward Euler steps with 1e-6 and 1e8 ohm for what is ideal; both agree to 2e-5.
//
// run: tolerance = 1e-6
// expect: c0 at 1.3 = 0.9992064 within 5e-5
// expect: c1 at 1.3 = 0.21498 within 5e-5
// expect: co at 1.3 = 1.214186 within 5e-5
// expect: c1 at 3.0 = 0.393834 within 5e-5
// expect: co at 3.0 = 1.392847 within 5e-5
// expect: c1 at 5.0 = 0.441392 within 5e-5
// expect: co at 5.0 = 1.440452 within 5e-5

model SwitchedCapacitorLadder
  parameter Real period = 1.76, source = 1, resistance = 0.014, load = 5.33;
  Real c0(start = 0), c1(start = 0), co(start = 0);
  Real feed, low, high "potentials at the switches";
  Real first, second "potentials between the diodes";
  Real i0, i1, io, supply, iUp, iDown, iLow, iHigh;
  Real s[3], v[3], i[3];
  Boolean on[3], rising(start = false, fixed = true), falling(start = false, fixed = true);
equation
  when sample(0, period) then
    rising = true;
  elsewhen sample(0.9944, period) then
    rising = false;
  end when;
  when sample(1.09806, period) then
    falling = true;
  elsewhen sample(1.65634, period) then
    falling = false;
  end when;
  source - feed = resistance*supply;
  if rising then
    feed = low;
    high = 0;
  else
    iUp = 0;
    iDown = 0;
  end if;
  if falling then
    low = 0;
    feed = high;
  else
    iLow = 0;
    iHigh = 0;
  end if;
  c0 = first - low;
  c1 = second - high;
  0.809*der(c0) = i0;
  0.369*der(c1) = i1;
  1.12*der(co) = io;
  v[1] = feed - first;
  v[2] = first - second;
  v[3] = second - co;
  for k in 1:3 loop
    on[k] = s[k] > 0;
    v[k] = if on[k] then 0 else s[k];
    i[k] = if on[k] then s[k] else 0;
  end for;
  supply = i[1] + iUp + iHigh;
  i[1] = i0 + i[2];
  i[2] = i1 + i[3];
  i[3] = io + co/load;
  i0 + iUp = iLow;
  i1 + iHigh = iDown;
  annotation(experiment(StopTime = 5.28, Interval = 0.01));
end SwitchedCapacitorLadder;
