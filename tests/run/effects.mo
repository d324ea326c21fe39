// Calls without results, and strings.
//
// model Effects.Checked
// stop 1
// fails E0609 too large
// at 0.5
// model Effects.CheckedDeeper
// stop 1
// fails E0609 too large
// at 0.5
// model Effects.ErrorAtEvent
// stop 1
// fails E0609 boom
// at 0.25
// model Effects.AssertAtEvent
// stop 1
// fails E0609 in a when
// at 0.75
// model Effects.ErrorInFunction
// stop 1
// fails E0608 negative
// at 0.5
// model Effects.InlineKeepsItsAssertion
// stop 1
// fails E0608 only small
// at 0.5
// model Effects.AssertAtStart
// stop 1
// fails E0609 starts too high
// model Effects.Texts
// stop 1
// final x 1
// final y 2
package Effects
  model AssertAtStart "What is asserted of the initial instant is looked at there"
    Real x(start = 2, fixed = true);
  equation
    der(x) = -1;
    if initial() then
      assert(x < 1, "starts too high");
    end if;
  end AssertAtStart;

  function check
    input Real x;
  algorithm
    assert(x < 0.5, "too large");
  end check;

  function check_deeper
    input Real x;
  algorithm
    check(x + 0);
  end check_deeper;

  function stop
    input String text;
    external "C" ModelicaError(text);
  end stop;

  function root
    input Real x;
    output Real y;
  algorithm
    if x < 0 then
      stop("negative: no root");
    end if;
    y := sqrt(abs(x));
  end root;

  function small
    input Real x;
    output Real y;
  algorithm
    assert(x < 0.5, "only small numbers");
    y := 2*x;
    annotation(Inline = true);
  end small;

  model Checked
    Real x = time;
  equation
    check(x);
  end Checked;

  model CheckedDeeper
    Real x = time;
  algorithm
    check_deeper(x);
  end CheckedDeeper;

  model ErrorAtEvent
    Real x = time;
  equation
    when x > 0.25 then
      stop("boom");
    end when;
  end ErrorAtEvent;

  model AssertAtEvent
    Real x = time;
  equation
    when x > 0.75 then
      assert(x < 0.7, "in a when");
    end when;
  end AssertAtEvent;

  model ErrorInFunction
    Real y = root(0.5 - time);
  end ErrorInFunction;

  model InlineKeepsItsAssertion
    Real y = small(time);
  end InlineKeepsItsAssertion;

  model Texts
    parameter String a = "alpha";
    parameter String b = a + "bet";
    Real x = if b == "alphabet" then 1 else 2;
    Real y = if a == "beta" or a > b then 1 else 2;
  end Texts;
end Effects;
