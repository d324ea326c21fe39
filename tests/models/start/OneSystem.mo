// Initial equations, initial algorithms, previous values and when-clauses that act at the start are one system.
//
// expect: setAtTheStart.z at 1 = 2 within 1e-6
// expect: setAtTheStart.y at 0.5 = 2 within 1e-6
// expect: setAgain.z at 1 = 2 within 1e-6
// expect: setAgain.y at 0.4 = 2 within 1e-6
// expect: setAgain.y at 0.9 = 2.5 within 1e-6
// expect: setFromAState.y at 0.4 = 3 within 1e-6
// expect: setFromAState.y at 0.9 = 3.5 within 1e-6
// expect: stateFromACount.x at 0 = 5 within 1e-6
// expect: stateFromACount.x at 1 = 6 within 1e-6
// expect: stateFromANewCount.x at 0 = 6 within 1e-6
// expect: stateFromANewCount.x at 1 = 7 within 1e-6
// expect: stateFromANewCount.n at 0.5 = 5 within 0
// expect: previousFromAState.y at 0.3 = 4 within 1e-6
// expect: previousFromAState.y at 0.9 = 2.5 within 1e-6
// expect: previousFromASolvedState.x at 0 = 3 within 1e-6
// expect: previousFromASolvedState.y at 0.3 = 6 within 1e-6
// expect: previousFromASolvedState.y at 0.9 = 7 within 1e-6
// expect: solvedForPrevious.y at 0.3 = 1 within 1e-6
// expect: solvedForPrevious.y at 0.9 = 2 within 1e-6
// expect: sampledToo.n at 0.1 = 2 within 0
// expect: sampledToo.n at 0.9 = 5 within 0
// expect: givenCount.n at 0.4 = 10 within 0
// expect: givenCount.n at 0.9 = 11 within 0
// expect: givenCount.k at 0.9 = 17 within 0
// expect: previousAndParameter.z at 1 = 6 within 1e-6
// expect: previousAndParameter.y at 0.3 = 3 within 1e-6
// expect: circle.z at 1 = 2 within 1e-6
// expect: circle.y at 0.3 = 1 within 1e-6
// expect: stateFromSet.x at 0 = 6 within 1e-6
// expect: stateFromSet.x at 1 = 7 within 1e-6
// expect: reinitAtTheStart.x at 0.25 = 7.25 within 1e-6
// expect: reinitAtTheStart.x at 1 = 7.5 within 1e-6
// expect: reinitAtTheStart.n at 0.9 = 2 within 0
// expect: allThree.x at 0 = 2 within 1e-6
// expect: allThree.y at 1 = 6 within 1e-6
// expect: counting.n at 0.4 = 3 within 0
// expect: counting.n at 0.9 = 4 within 0
// expect: counting.k at 0.9 = 7 within 0
// expect: counting.x at 1 = 4.5 within 1e-6
// expect: choice.x at 0 = 1 within 1e-6
// expect: choice.b at 0.4 = 0 within 0
// expect: choice.b at 0.9 = 1 within 0
// expect: clocked.d at 0.1 = 2 within 1e-6
// expect: clocked.d at 0.9 = 5 within 1e-6
// expect: clocked.x at 1 = 4.5 within 1e-6
// expect: inOrder.a at 0.5 = 2 within 0
// expect: inOrder.b at 0.5 = 3 within 0
// expect: inOrder.c at 0.5 = 5 within 0
// expect: byAlgorithm.x at 1 = 9 within 1e-6
// expect: previousByAlgorithm.n at 0.3 = 7 within 0
// expect: previousByAlgorithm.n at 0.9 = 8 within 0
// expect: stateByAlgorithm.x at 0 = 2 within 1e-6
// expect: stateByAlgorithm.x at 1 = 5 within 1e-6
// expect: branchByAlgorithm.d at 0.3 = 1 within 1e-6
// expect: branchByAlgorithm.d at 0.9 = 5 within 1e-6

model OneSystem
  model SetAtTheStart
    discrete Real y(start = 5, fixed = true);
    parameter Real q(fixed = false);
    Real z = q*time;
  initial equation
    q = y;
  equation
    when initial() then
      y = 2;
    end when;
  end SetAtTheStart;

  model SetAgain
    discrete Real y(start = 5);
    parameter Real q(fixed = false);
    Real z = q*time;
  initial equation
    q = y;
  equation
    when {initial(), time > 0.5} then
      y = 2 + time;
    end when;
  end SetAgain;

  model SetFromAState
    discrete Real y;
    Real x(start = 3, fixed = true);
  equation
    der(x) = 1;
    when {initial(), x > 3.5} then
      y = x;
    end when;
  end SetFromAState;

  model StateFromACount
    Integer n(start = 4, fixed = true);
    Real x;
  initial equation
    x = n + 1;
  equation
    der(x) = 1;
    when time > 0.5 then
      n = 5;
    end when;
  end StateFromACount;

  model StateFromANewCount
    Integer n(start = 4, fixed = true);
    Integer k(start = 0, fixed = true);
    Real x;
  initial equation
    x = n + 1;
  equation
    der(x) = 1;
    when initial() then
      n = pre(n) + 1;
    end when;
    when time > 2 then
      k = 1;
    end when;
  end StateFromANewCount;

  model PreviousFromAState
    discrete Real y(start = 0);
    Real x(start = 2, fixed = true);
  initial equation
    y = 2*x;
  equation
    der(x) = 1;
    when time > 0.5 then
      y = x;
    end when;
  end PreviousFromAState;

  model PreviousFromASolvedState
    discrete Real y(start = 0);
    Real x(start = 2);
  initial equation
    pre(y) = 2*x;
    x^2 = 9;
  equation
    der(x) = 1;
    when time > 0.5 then
      y = pre(y) + 1;
    end when;
  end PreviousFromASolvedState;

  model SolvedForPrevious
    discrete Real y(start = 0);
    Real x(start = 2, fixed = true);
  initial equation
    2*y = x;
  equation
    der(x) = 1;
    when time > 0.5 then
      y = pre(y) + 1;
    end when;
  end SolvedForPrevious;

  model SampledToo
    Integer n(start = 0, fixed = true);
  equation
    when {initial(), sample(0, 0.25)} then
      n = pre(n) + 1;
    end when;
  end SampledToo;

  model GivenCount
    Integer n(start = 3);
    Integer k(start = 7, fixed = true);
  initial equation
    n = 10;
  equation
    when time > 0.5 then
      n = pre(n) + 1;
      k = pre(k) + pre(n);
    end when;
  end GivenCount;

  model PreviousAndParameter
    discrete Real y(start = 0);
    parameter Real q(fixed = false);
    Real z = q*time;
  initial equation
    y = 3;
    q = 2*y;
  equation
    when time > 0.5 then
      y = 1;
    end when;
  end PreviousAndParameter;

  model Circle
    discrete Real y(start = 0, fixed = true);
    parameter Real q(fixed = false);
    Real z = q*time;
  initial equation
    q = y + 1;
  equation
    when initial() then
      y = q/2;
    end when;
  end Circle;

  model StateFromSet
    Real x;
    discrete Real d(start = 0, fixed = true);
  initial equation
    x = 2*d;
  equation
    der(x) = 1;
    when initial() then
      d = 3;
    end when;
  end StateFromSet;

  model ReinitAtTheStart
    Real x;
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 1;
    when {initial(), time >= 0.5} then
      reinit(x, 7);
      n = pre(n) + 1;
    end when;
  end ReinitAtTheStart;

  model AllThree
    Real x;
    discrete Real d;
    parameter Real p(fixed = false);
    Real y = p*time;
  initial equation
    x = 2;
    p = 2*d;
  equation
    der(x) = 1;
    when initial() then
      d = x + 1;
    end when;
  end AllThree;

  model Counting
    Integer n(start = 2, fixed = true);
    Integer k(start = 0, fixed = true);
    Real x;
  initial equation
    x = 1;
  equation
    der(x) = n;
    when {initial(), time >= 0.5} then
      n = pre(n) + 1;
      k = pre(k) + n;
    end when;
  end Counting;

  model Choice
    Boolean b(start = true, fixed = true);
    Real x;
  initial equation
    x = if b then 2 else 1;
  equation
    der(x) = 1;
    when {initial(), time > 0.5} then
      b = not pre(b);
    end when;
  end Choice;

  model Clocked
    discrete Real d(start = 1, fixed = true);
    Real x(start = 1, fixed = true);
  equation
    der(x) = d;
    when {initial(), sample(0.25, 0.25)} then
      d = pre(d) + 1;
    end when;
  end Clocked;

  model InOrder
    discrete Real a(start = 1, fixed = true), b(start = 1, fixed = true), c(start = 1, fixed = true);
  equation
    when initial() then
      a = 2;
    end when;
    when initial() then
      b = a + 1;
    end when;
    when initial() then
      c = b + a;
    end when;
  end InOrder;

  model ByAlgorithm
    parameter Real p(fixed = false);
    parameter Real q = 2*p;
    Real x(start = q, fixed = true);
  initial algorithm
    p := 3;
  equation
    der(x) = p;
  end ByAlgorithm;

  model PreviousByAlgorithm
    Integer n(start = 0);
    Integer k(start = 1, fixed = true);
  initial algorithm
    n := 7;
  equation
    when time > 0.5 then
      n = pre(n) + 1;
      k = 2;
    end when;
  end PreviousByAlgorithm;

  model StateByAlgorithm
    Real x;
    parameter Real p(fixed = false);
  initial algorithm
    x := 2;
    p := x + 1;
  equation
    der(x) = p;
  end StateByAlgorithm;

  model BranchByAlgorithm
    discrete Real d(start = 0);
    Real x(start = 4, fixed = true);
  initial algorithm
    if x > 3 then
      d := 1;
    else
      d := 2;
    end if;
  equation
    der(x) = -1;
    when time > 0.5 then
      d = 5;
    end when;
  end BranchByAlgorithm;

  SetAtTheStart setAtTheStart;
  SetAgain setAgain;
  SetFromAState setFromAState;
  StateFromACount stateFromACount;
  StateFromANewCount stateFromANewCount;
  PreviousFromAState previousFromAState;
  PreviousFromASolvedState previousFromASolvedState;
  SolvedForPrevious solvedForPrevious;
  SampledToo sampledToo;
  GivenCount givenCount;
  PreviousAndParameter previousAndParameter;
  Circle circle;
  StateFromSet stateFromSet;
  ReinitAtTheStart reinitAtTheStart;
  AllThree allThree;
  Counting counting;
  Choice choice;
  Clocked clocked;
  InOrder inOrder;
  ByAlgorithm byAlgorithm;
  PreviousByAlgorithm previousByAlgorithm;
  StateByAlgorithm stateByAlgorithm;
  BranchByAlgorithm branchByAlgorithm;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end OneSystem;
