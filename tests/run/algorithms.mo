// Loops of any length, assertions and terminations where they stand, values before and after statements.
//
package Algorithms
// model Algorithms.WhileAtEvents
// stop 0.9
// final s 7
  model WhileAtEvents
    Integer c(start = 0, fixed = true);
    Integer s(start = 0, fixed = true);
  algorithm
    when sample(0.2, 0.2) then
      c := c + 1;
      s := 0;
      while s*s < c*10 loop
        s := s + 1;
      end while;
    end when;
  end WhileAtEvents;

// model Algorithms.While
// stop 0.9
// final n 7
// final x 128
  model While
    Integer k = integer(100*time);
    Integer n;
    Real x;
  algorithm
    n := 0;
    x := 1;
    while x < k loop
      x := 2*x;
      n := n + 1;
    end while;
  end While;

// model Algorithms.ForVarying
// stop 0.7
// final s 10
  model ForVarying
    Integer k = integer(5*time) + 1;
    Integer s;
  algorithm
    s := 0;
    for i in 1:k loop
      s := s + i;
    end for;
  end ForVarying;

// model Algorithms.ForDown
// final s 4321
  model ForDown
    Integer k = integer(4*time);
    Real s;
  algorithm
    s := 0;
    for i in k:-1:1 loop
      s := 10*s + i;
    end for;
  end ForDown;

// model Algorithms.ForEmpty
// final s 3
  model ForEmpty
    Integer k = -integer(4*time);
    Real s;
  algorithm
    s := 3;
    for i in 1:k loop
      s := 10*s + i;
    end for;
  end ForEmpty;

// model Algorithms.ForNested
// final s 20
  model ForNested
    Integer k = integer(4*time);
    Integer s;
  algorithm
    s := 0;
    for i in 1:k, j in 1:i loop
      s := s + i - j + 1;
    end for;
  end ForNested;

// model Algorithms.ForOverArray
// final s 6
// final p 24
  model ForOverArray
    Real a[4] = {1, 2, 3, 4*time};
    Integer k = integer(3.5*time);
    Real s;
    Real p;
  algorithm
    s := 0;
    p := 1;
    for i in 1:k loop
      s := s + a[i];
    end for;
    for i in 1:k + 1 loop
      p := p*a[i];
    end for;
  end ForOverArray;

// model Algorithms.ForOutside
// fails E0608 outside 1..3
  model ForOutside
    Real a[3] = {1, 2, 3};
    Integer k = integer(5*time);
    Real s;
  algorithm
    s := 0;
    for i in 1:k loop
      s := s + a[i];
    end for;
  end ForOutside;

// model Algorithms.ForWrites
// final a[1] 1
// final a[2] 4
// final a[3] 9
// final a[4] 0
  model ForWrites
    Integer k = integer(3.5*time);
    Real a[4];
  algorithm
    a := zeros(4);
    for i in 1:k loop
      a[i] := i^2;
    end for;
  end ForWrites;

// model Algorithms.Breaks
// final n 5
// final m 3
  model Breaks
    Integer k = integer(10*time);
    Integer n;
    Integer m;
  algorithm
    n := 0;
    while true loop
      n := n + 1;
      if n*n > 2*k then
        break;
      end if;
    end while;
    m := 0;
    for i in 1:k loop
      if i > 3 then
        break;
      end if;
      m := i;
    end for;
  end Breaks;

// model Algorithms.BreakKnown
// final m 6
  model BreakKnown
    Integer k = integer(3*time);
    Integer m;
  algorithm
    m := 0;
    for i in 1:10 loop
      if i > k then
        break;
      end if;
      m := m + i;
    end for;
  end BreakKnown;

// model Algorithms.EventsInLoops
// final c 2
  model EventsInLoops "Relations of what the loop does not change cause events"
    Real x = sin(6.283185307179586*time);
    Integer k = 2;
    Integer n = if time > 2 then 3 else 2;
    Integer s;
    Integer c(start = 0, fixed = true);
  algorithm
    s := 0;
    for i in 1:n loop
      if x > 0.5 then
        s := s + 1;
      end if;
    end for;
  equation
    when change(s) then
      c = pre(c) + 1;
    end when;
  end EventsInLoops;

// model Algorithms.PreInLoops
// final n 15
  model PreInLoops
    Integer n(start = 0, fixed = true);
    Integer k(start = 0, fixed = true);
  algorithm
    when sample(0.1, 0.2) then
      k := pre(k) + 1;
      for i in 1:k loop
        n := n + 1;
      end for;
    end when;
  end PreInLoops;

// model Algorithms.AssertNotTaken
// final x 2
  model AssertNotTaken
    Integer i = integer(3*time);
    Real x;
  algorithm
    x := 2;
    if i == 7 then
      x := 3;
      assert(false, "not taken");
    end if;
  end AssertNotTaken;

// model Algorithms.AssertTaken
// fails E0609 i is 2, x is 2.5
// at 0.6666
  model AssertTaken
    Integer i = integer(3*time);
    Real x;
  algorithm
    x := 2;
    if i >= 2 then
      x := x + 0.5;
      assert(x < 2, "i is " + String(i) + ", x is " + String(x));
    end if;
  end AssertTaken;

// model Algorithms.AssertElse
// final x 1
  model AssertElse
    Real x;
  algorithm
    x := time;
    if time < 2 then
      x := x + 0;
    elseif time < 3 then
      assert(false, "second");
    else
      assert(false, "third");
    end if;
  end AssertElse;

// model Algorithms.AssertInEquation
// final x 1
  model AssertInEquation
    Real x = time;
  equation
    if time > 2 then
      assert(x < 0, "not taken");
    end if;
  end AssertInEquation;

// model Algorithms.AssertInWhen
// fails E0609 k is 3
  model AssertInWhen
    Integer k(start = 0, fixed = true);
  algorithm
    when sample(0.1, 0.2) then
      k := pre(k) + 1;
      if k > 2 then
        assert(k < 3, "k is " + String(k));
      end if;
    end when;
  end AssertInWhen;

// model Algorithms.AssertInLoop
// fails E0608 i is 4
  model AssertInLoop
    Integer k = integer(5*time);
    Integer s;
  algorithm
    s := 0;
    for i in 1:k loop
      assert(i < 4, "i is " + String(i));
      s := s + i;
    end for;
  end AssertInLoop;

// model Algorithms.TerminateNotTaken
// final y 1
  model TerminateNotTaken
    Real x = time;
    Real y;
  algorithm
    y := x;
    if x > 5 then
      terminate("no");
    end if;
  end TerminateNotTaken;

// model Algorithms.TerminateTaken
// final y 0.5
  model TerminateTaken
    Real x = time;
    Real y;
  algorithm
    y := x;
    if x > 0.5 then
      terminate("y is " + String(y));
    end if;
  end TerminateTaken;

// model Algorithms.TerminateInEquation
// final x 0.25
  model TerminateInEquation
    Real x = time;
  equation
    if x > 0.25 then
      terminate("enough");
    end if;
  end TerminateInEquation;

// model Algorithms.TerminateInWhen
// final k 3
  model TerminateInWhen
    Integer k(start = 0, fixed = true);
  equation
    when sample(0.1, 0.1) then
      k = pre(k) + 1;
      if k >= 3 then
        terminate("k is " + String(k));
      end if;
    end when;
  end TerminateInWhen;

// model Algorithms.TerminateInLoop
// refused E0507
  model TerminateInLoop
    Real x;
  algorithm
    x := 1;
    while x < time loop
      x := 2*x;
      terminate("no");
    end while;
  end TerminateInLoop;

// model Algorithms.WhenInOrder
// stop 0.5
// final c 2
// final s 4
// final d 22
// final e 24
  model WhenInOrder "Statements of a when-clause see what those before them assigned, once"
    Integer c(start = 0, fixed = true);
    Integer s(start = 0, fixed = true);
    Integer d(start = 0, fixed = true);
    Integer e(start = 0, fixed = true);
  algorithm
    when sample(0.2, 0.2) then
      c := c + 1;
      s := c*2;
    end when;
  algorithm
    when sample(0.2, 0.2) then
      d := d + 1;
      e := d*2;
      d := d + 10;
    end when;
  end WhenInOrder;

// model Algorithms.WhenTogether
// stop 0.5
// final a 3
// final b 2
// final c 6
  model WhenTogether "Equations of a when-clause hold together, in any order"
    Integer a(start = 0, fixed = true);
    Integer b(start = 0, fixed = true);
    Integer c(start = 0, fixed = true);
  equation
    when sample(0.2, 0.2) then
      c = 2*a;
      a = b + 1;
      b = pre(b) + 1;
    end when;
  end WhenTogether;

// model Algorithms.WhenByItself
// refused E0606 `n` is defined by itself
  model WhenByItself
    Integer n(start = 0, fixed = true);
  equation
    when sample(0.2, 0.2) then
      n = n + 1;
    end when;
  end WhenByItself;

// model Algorithms.WhenInCircle
// refused E0606 are defined by each other
  model WhenInCircle
    Integer n(start = 0, fixed = true);
    Integer m(start = 0, fixed = true);
  equation
    when sample(0.2, 0.2) then
      n = m + 1;
      m = n - 1;
    end when;
  end WhenInCircle;

// model Algorithms.AtOnce
// final x[1] 3
// final x[2] 1
// final a 2
// final b 5
  model AtOnce "An array from its own elements, results of a call from its own arguments"
    Real x[2];
    Real a;
    Real b;
    function swap
      input Real u;
      input Real v;
      output Real p;
      output Real q;
    algorithm
      p := v;
      q := u;
    end swap;
  algorithm
    x := {1, 2};
    x := {x[1] + x[2], x[1]};
    a := 5;
    b := 2*time;
    (a, b) := swap(a, b);
  end AtOnce;

// model Algorithms.MatrixTimesItself
// final x[1] 5
// final x[2] 11
  model MatrixTimesItself
    Real x[2];
    parameter Real m[2, 2] = [1, 2; 3, 4];
  algorithm
    x := {1, 2*time};
    x := m*x;
  end MatrixTimesItself;

// model Algorithms.StartValues
// final n 4
// final x 2
  model StartValues "Discrete variables keep their values, continuous ones begin at their start"
    Integer n(start = 4, fixed = true);
    Real x(start = 2);
  algorithm
    if time > 2 then
      n := 7;
      x := 9;
    end if;
  end StartValues;

// model Algorithms.TwoSections
// final x 3
// final y 5
  model TwoSections
    Real x;
    Real y;
  algorithm
    y := x + 2;
  algorithm
    x := 3*time;
  end TwoSections;

// model Algorithms.InitialLoop
// final x 55
  model InitialLoop
    Real x(fixed = false);
    parameter Integer n = 10;
  initial algorithm
    x := 0;
    for i in 1:n loop
      x := x + i;
    end for;
  equation
    der(x) = 0;
  end InitialLoop;

// model Algorithms.Warned
// final x 1
  model Warned
    Real x = time;
  equation
    assert(x < 0.5, "x is " + String(x, significantDigits = 2), AssertionLevel.warning);
  end Warned;

// model Algorithms.EndlessLoop
// fails E0608 does not end
  model EndlessLoop
    Integer n;
    Real x;
  algorithm
    n := 0;
    while n >= 0 loop
      n := mod(n + 1, 7);
    end while;
    x := n + time;
  end EndlessLoop;
end Algorithms;
