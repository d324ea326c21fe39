// Warnings of functions and loops: given where the call is made, and nowhere else.
//
// model Warnings.InFunction
// stop 2
// final y 1
// warns in function `Warnings.root`: x is small
// model Warnings.Several
// stop 2
// warns x is small: -1; in function `Warnings.sum`: i is 3
// model Warnings.BranchNotTaken
// stop 2
// silent
// model Warnings.BranchTaken
// stop 2
// warns x is small
// model Warnings.DeepBranchNotTaken
// stop 2
// silent
// model Warnings.AtEvent
// stop 2
// warns at t = 0.5: in function `Warnings.root`: x is small: -0.5
// model Warnings.AtNoEvent
// stop 2
// silent
// model Warnings.VaryingLoop
// stop 2
// final s 10
// warns at t = 0.5: i is 4
// model Warnings.KnownLoop
// stop 2
// warns s is
// model Warnings.OfParameter
// stop 2
// warns x is small: 0.01
// model Warnings.AtStart
// stop 1
// warns x is small: 0.05
// model Warnings.InCondition
// stop 2
// warns at t = 0: in function `Warnings.root`: x is small: 0
// model Warnings.ForEffect
// stop 2
// warns x is
// model Warnings.Inlined
// stop 2
// warns large
// model Warnings.ErrorInLoopWithoutResults
// stop 2
// fails E0609 i is 4
// at 0.5
package Warnings
  function root
    input Real x;
    output Real y;
  algorithm
    assert(x > 0.1, "x is small: " + String(x), AssertionLevel.warning);
    y := sqrt(abs(x));
  end root;

  function sum
    input Real x;
    output Real y;
  protected
    Real s;
  algorithm
    s := 0;
    for i in 1:3 loop
      s := s + root(x - i);
      assert(i < 3, "i is " + String(i), AssertionLevel.warning);
    end for;
    y := s;
  end sum;

  function maybe
    input Real x;
    input Boolean really;
    output Real y;
  algorithm
    y := if really then root(x) else x;
  end maybe;

  function check
    input Real x;
  algorithm
    assert(x < 1, "x is " + String(x), AssertionLevel.warning);
  end check;

  function square
    input Real x;
    output Real y;
  algorithm
    assert(x < 1, "large", AssertionLevel.warning);
    y := x^2;
    annotation(Inline = true);
  end square;

  model InFunction
    Real x(start = 1, fixed = true);
    Real y = root(x);
  equation
    der(x) = -1;
  end InFunction;

  model Several
    Real y = sum(time);
  end Several;

  model BranchNotTaken
    Real y = if time > 3 then root(time - 5) else 0;
  end BranchNotTaken;

  model BranchTaken
    Real y = if time > 1 then root(time - 5) else 0;
  end BranchTaken;

  model DeepBranchNotTaken
    Real y = maybe(time - 1, time > 3);
  end DeepBranchNotTaken;

  model AtEvent
    discrete Real y(start = 0, fixed = true);
  equation
    when time > 0.5 then
      y = root(time - 1);
    end when;
  end AtEvent;

  model AtNoEvent
    discrete Real y(start = 0, fixed = true);
  equation
    when time > 5 then
      y = root(time - 1);
    end when;
  end AtNoEvent;

  model VaryingLoop
    Integer n(start = 3, fixed = true);
    Real s;
  algorithm
    when time > 0.5 then
      n := 4;
    end when;
    s := 0;
    for i in 1:n loop
      s := s + i;
      assert(i < 4, "i is " + String(i), AssertionLevel.warning);
    end for;
  end VaryingLoop;

  model KnownLoop
    Real s;
  algorithm
    s := 0;
    for i in 1:3 loop
      s := s + time;
      assert(s < 4, "s is " + String(s), AssertionLevel.warning);
    end for;
  end KnownLoop;

  model OfParameter
    parameter Real p = 0.01;
    Real y = root(p)*time;
  end OfParameter;

  model AtStart
    Real y;
  initial equation
    y = root(0.05*cos(time));
  equation
    der(y) = 1;
  end AtStart;

  model InCondition
    Boolean b = root(time) > 1.2;
    Real x(start = 0, fixed = true);
  equation
    der(x) = if b then 1 else 0;
  end InCondition;

  model ForEffect
    Real x = time;
  equation
    check(x);
  end ForEffect;

  model Inlined
    Real x = square(time);
  end Inlined;

  model ErrorInLoopWithoutResults
    Integer n(start = 3, fixed = true);
  algorithm
    when time > 0.5 then
      n := 4;
    end when;
    for i in 1:n loop
      assert(i < 4, "i is " + String(i));
    end for;
  end ErrorInLoopWithoutResults;
end Warnings;
