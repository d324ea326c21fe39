// A switch with resistances of the closed and the open contact; a comparison of two tiny quantities turns right after
// the start. The equations are the same in both positions but for a number, which changes by ten orders of magnitude:
// neither the first step of the visit that ended at once nor its Jacobian is of use later.
//
// expect: i at 0.09 = 1e-7 within 1e-12
// expect: i at 0.3 = 9.999546000702375 within 1e-5

model ShortVisit "A contact that closes after a very short first visit"
  parameter Real L = 0.02;
  Real i(start = 0, fixed = true);
  Real v;
  Boolean quenched(start = false, fixed = true);
  Boolean closed = time >= 0.1;
equation
  quenched = not closed and (abs(i) <= 1e-24*abs(v) or pre(quenched));
  10 = L*der(i) + v;
  v = (if closed then 1 else 1e8)*i;
  annotation(experiment(StopTime = 0.3, Tolerance = 1e-6));
end ShortVisit;
