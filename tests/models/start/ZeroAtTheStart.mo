// A relation that is zero at the start and leaves zero is a transition for when-clauses and edges, whether or not it switches
// equations too; one that holds at zero and falls is none.
//
// expect: rises.n at 0.5 = 1 within 0
// expect: rises.k at 0.5 = 1 within 0
// expect: rises.f at 0.5 = 0 within 0
// expect: rises.y at 0.5 = 1 within 1e-6
// expect: fallsFromTrue.n at 0.5 = 0 within 0
// expect: fallsFromTrue.k at 0.5 = 0 within 0
// expect: fallsFromTrue.f at 0.5 = 1 within 0
// expect: fallsFromTrue.y at 0.5 = 0 within 1e-6
// expect: falls.n at 0.5 = 1 within 0
// expect: falls.k at 0.5 = 1 within 0
// expect: falls.f at 0.5 = 0 within 0
// expect: falls.y at 0.5 = 1 within 1e-6
// expect: heldAtZero.n at 0.5 = 0 within 0
// expect: heldAtZero.k at 0.5 = 0 within 0
// expect: heldAtZero.f at 0.5 = 1 within 0
// expect: heldAtZero.y at 0.5 = 0 within 1e-6
// expect: afterTheStart.n at 0.5 = 1 within 0
// expect: afterTheStart.y at 0.5 = 1 within 1e-6
// expect: fromTheStart.n at 0.5 = 0 within 0
// expect: fromTheStart.y at 0.5 = 1 within 1e-6
// expect: bySecondDerivative.n at 0.5 = 1 within 0
// expect: bySecondDerivative.u at 0.5 = 1 within 1e-6
// expect: structure.n at 0.5 = 1 within 0
// expect: structure.x at 1 = 1 within 1e-6
// expect: decay.n at 0.5 = 1 within 0
// expect: decay.n at 0.9 = 2 within 0
// expect: decay.u at 0.5 = 3 within 1e-6
// expect: trueAllAlong.n at 0.9 = 0 within 0
// expect: byTime.n at 0.9 = 1 within 0
// expect: edgeLater.n at 0.4 = 0 within 0
// expect: edgeLater.n at 0.9 = 1 within 0

model ZeroAtTheStart
  model Rises
    Real x(start = 0, fixed = true);
    Real y = if x > 0 then 1 else 0;
    Integer n(start = 0, fixed = true);
    Boolean b = x > 0;
    Integer k(start = 0, fixed = true), f(start = 0, fixed = true);
  equation
    der(x) = 1;
    when x > 0 then
      n = pre(n) + 1;
    end when;
    when edge(b) then
      k = pre(k) + 1;
    end when;
    when not b then
      f = pre(f) + 1;
    end when;
  end Rises;

  model FallsFromTrue
    Real x(start = 0, fixed = true);
    Real y = if x >= 0 then 1 else 0;
    Integer n(start = 0, fixed = true);
    Boolean b = x >= 0;
    Integer k(start = 0, fixed = true), f(start = 0, fixed = true);
  equation
    der(x) = -1;
    when x >= 0 then
      n = pre(n) + 1;
    end when;
    when edge(b) then
      k = pre(k) + 1;
    end when;
    when not b then
      f = pre(f) + 1;
    end when;
  end FallsFromTrue;

  model Falls
    Real x(start = 0, fixed = true);
    Real y = if x < 0 then 1 else 0;
    Integer n(start = 0, fixed = true);
    Boolean b = x < 0;
    Integer k(start = 0, fixed = true), f(start = 0, fixed = true);
  equation
    der(x) = -1;
    when x < 0 then
      n = pre(n) + 1;
    end when;
    when edge(b) then
      k = pre(k) + 1;
    end when;
    when not b then
      f = pre(f) + 1;
    end when;
  end Falls;

  model HeldAtZero
    Real x(start = 0, fixed = true);
    Real y = if x <= 0 then 1 else 0;
    Integer n(start = 0, fixed = true);
    Boolean b = x <= 0;
    Integer k(start = 0, fixed = true), f(start = 0, fixed = true);
  equation
    der(x) = 1;
    when x <= 0 then
      n = pre(n) + 1;
    end when;
    when edge(b) then
      k = pre(k) + 1;
    end when;
    when not b then
      f = pre(f) + 1;
    end when;
  end HeldAtZero;

  model AfterTheStart
    Real y = if time > 0 then 1 else 0;
    Integer n(start = 0, fixed = true);
  equation
    when time > 0 then
      n = pre(n) + 1;
    end when;
  end AfterTheStart;

  model FromTheStart
    Real y = if time >= 0 then 1 else 0;
    Integer n(start = 0, fixed = true);
  equation
    when time >= 0 then
      n = pre(n) + 1;
    end when;
  end FromTheStart;

  model BySecondDerivative
    Real x(start = 0, fixed = true), v(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
    Real u = if x > 0 then 1 else 2;
  equation
    der(x) = v;
    der(v) = 1;
    when x > 0 then
      n = pre(n) + 1;
    end when;
  end BySecondDerivative;

  model Structure
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    if x > 0 then
      der(x) = 1;
    else
      der(x) = 2;
    end if;
    when x > 0 then
      n = pre(n) + 1;
    end when;
  end Structure;

  model Decay
    Real x(start = 1, fixed = true);
    Integer n(start = 0, fixed = true);
    Real u = if x < 1 then 3 else 0;
  equation
    der(x) = -x;
    when {x < 1, x < 0.5} then
      n = pre(n) + 1;
    end when;
  end Decay;

  model TrueAllAlong
    Real x(start = 1, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = -1;
    when x < 2 then
      n = pre(n) + 1;
    end when;
  end TrueAllAlong;

  model ByTime
    Boolean b(start = true, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    b = time < 0.5;
    when not b then
      n = pre(n) + 1;
    end when;
  end ByTime;

  model EdgeLater
    Real x(start = 1, fixed = true);
    Integer n(start = 0, fixed = true);
    Boolean g(start = false, fixed = true);
  equation
    der(x) = -1;
    g = x > 0.5;
    when change(g) then
      n = pre(n) + 1;
    end when;
  end EdgeLater;

  Rises rises;
  FallsFromTrue fallsFromTrue;
  Falls falls;
  HeldAtZero heldAtZero;
  AfterTheStart afterTheStart;
  FromTheStart fromTheStart;
  BySecondDerivative bySecondDerivative;
  Structure structure;
  Decay decay;
  TrueAllAlong trueAllAlong;
  ByTime byTime;
  EdgeLater edgeLater;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end ZeroAtTheStart;
