// says: the mode `locked` of `BrakeOnDrivenShaft` is singular
// says: too many: `10 + time = 0`
// says: not determined: `tau`, `tauBrake`
// says: a slip between rigid parts
// run: error[E0612]: at t = 1
// run: BrakeOnDrivenShaft.mo:
// fix: `    w = 0;` -> `    tauBrake = 5*w;`
model BrakeOnDrivenShaft "A brake that locks a shaft whose speed is prescribed"
  Real w, tau, tauBrake;
  Boolean locked = time > 1;
equation
  w = 10 + time;
  3*der(w) = tau - tauBrake;
  if locked then
    w = 0;
  else
    tauBrake = 0;
  end if;
end BrakeOnDrivenShaft;
