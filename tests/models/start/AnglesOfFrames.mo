// Two frames of which the second is said to be turned as the first is, by the angles between them: these are undefined while the
// axes of both are zero, which they are by default. The axes follow from the angle that is given.
//
// run: tolerance = 1e-9
// expect: a at 0+ = 0.4 within 1e-9
// expect: b at 0+ = 0.4 within 1e-9
// expect: b at 1 = 0.9 within 1e-7

model AnglesOfFrames
  Real a(start = 0.4, fixed = true), w(start = 0.5, fixed = true), b(start = 0.1), A[2, 2], B[2, 2], force;
equation
  A = [cos(a), sin(a); -sin(a), cos(a)];
  B = [cos(b), sin(b); -sin(b), cos(b)];
  0 = atan2(A[1, :]*{-B[1, 2], B[1, 1]}, A[1, :]*B[1, :]);
  der(a) = w;
  2*der(w) = -force;
  der(der(b)) = force;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end AnglesOfFrames;
