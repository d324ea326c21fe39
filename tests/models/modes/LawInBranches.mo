// A law with a factor that varies stands in a branch by the sign of what jumps: 2 to -1, through zero. What is conserved is the integral of
// the factor as it is written, v + v^3, also beyond the condition of its branch: 10 + 2 = 12; so too where the factor has a name.
//
// expect: q at 2 = 12 within 1e-9
// expect: r at 2 = 12 within 1e-9

model LawInBranches
  Real v(start = 2, fixed = true), i, q(start = 0, fixed = true);
  Real w(start = 2, fixed = true), j, r(start = 0, fixed = true), C;
equation
  if v > 0 then
    (1 + 3*v^2)*der(v) = -i;
  else
    (1 + 3*v^2)*der(v) = -i;
  end if;
  der(q) = i;
  if time < 1 then i = 0; else v = -1; end if;
  if w > 0 then
    C = 1 + 3*w^2;
  else
    C = 1 + 3*w^2;
  end if;
  C*der(w) = -j;
  der(r) = j;
  if time < 1 then j = 0; else w = -1; end if;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end LawInBranches;
