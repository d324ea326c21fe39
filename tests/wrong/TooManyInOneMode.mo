// says: note[W0501]: the mode `locked` of `TooManyInOneMode` is singular: 3 equations for only 2 unknowns
// says: too many: `w = 0`
// says: too many: `tau = -3`
// says: leave out one of these equations in this mode
// run: error[E0612]: at t = 1: the mode `locked` is singular
// fix: `tau = -3;` -> ``
model TooManyInOneMode "Locked, the speed and the torque are both given"
  Real w(start = 1, fixed = true), tau;
  Boolean locked = time > 1;
equation
  2*der(w) = tau;
  if locked then
    w = 0;
    tau = -3;
  else
    tau = -0.5*w;
  end if;
end TooManyInOneMode;
