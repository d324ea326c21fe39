// Nothing flows until t = 1: the enthalpy where the pipes part is multiplied by zero everywhere, and is kept. Then it is that of
// the source. Into the first tank go 0.25*(t - 1)^2/2, into the second three times as much.
//
// run: stop = 3
// expect: T1 at 1 = 1 within 1e-12
// expect: T2 at 1 = 2 within 1e-12
// expect: hp at 1.5 = 5 within 1e-9
// expect: T1 at 3 = 2.57387736 within 1e-5
// expect: T2 at 3 = 4.33060952 within 1e-5

model NothingFlows "A source, a branch and two tanks"
  Real m "Flow";
  Real m1 = 0.25*m;
  Real m2 = 0.75*m;
  Real H, H1, H2 "Flows of enthalpy";
  Real hp(start = 4) "Where the pipes part";
  Real T1(start = 1, fixed = true);
  Real T2(start = 2, fixed = true);
equation
  m = if time < 1 then 0 else time - 1;
  H = semiLinear(m, 5, hp);
  H1 = semiLinear(m1, hp, T1);
  H2 = semiLinear(m2, hp, T2);
  H = H1 + H2;
  der(T1) = H1 - m1*T1;
  der(T2) = H2 - m2*T2;
  annotation(experiment(Tolerance = 1e-8));
end NothingFlows;
