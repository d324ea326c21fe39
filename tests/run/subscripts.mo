// Subscripts outside their dimension stop the run, wherever they stand; inside they do no harm.
//
package Subscripts
  function pick "One statement: written into the equation"
    input Integer i;
    output Real y;
  protected
    Real a[3] = {1, 2, 3};
  algorithm
    y := a[i];
  end pick;

  function pickLater "Several statements: a call"
    input Real a[:];
    input Integer i;
    output Real y;
  protected
    Integer k;
  algorithm
    k := i + 1;
    y := a[k - 1];
  end pickLater;

  function put
    input Integer n;
    input Integer i;
    output Real a[3];
  algorithm
    a := zeros(3);
    for k in 1:n loop
      a[i + k] := k;
    end for;
  end put;

  function corner
    input Integer i;
    input Integer j;
    output Real y;
  protected
    Real m[2, 3];
  algorithm
    for r in 1:2 loop
      for c in 1:3 loop
        m[r, c] := 10*r + c;
      end for;
    end for;
    y := m[i, j];
  end corner;

// model Subscripts.EquationAbove
// fails E0608 the subscript 3 of `v` is outside 1..2
  model EquationAbove
    Real v[2] = {1, time};
    Real y = v[integer(3*time) + 1];
  end EquationAbove;

// model Subscripts.EquationBelow
// fails E0608 the subscript 0 of `a` is outside 1..3
  model EquationBelow
    Integer i = 1 - integer(2*time);
    Real a[3] = {1 + time, 2, 3};
    Real x = a[i];
  end EquationBelow;

// model Subscripts.InFunction
// fails E0608 the subscript 4
  model InFunction
    Real y = pick(integer(5*time) + 1);
  end InFunction;

// model Subscripts.InCall
// fails E0608 is outside 1..2
  model InCall
    Real y = pickLater({time, 1}, integer(4*time) + 1);
  end InCall;

// model Subscripts.WrittenInCall
// fails E0608 outside 1..3
  model WrittenInCall
    Real y[3] = put(2, integer(4*time));
  end WrittenInCall;

// model Subscripts.SecondOfTwo
// fails E0608 outside 1..3
  model SecondOfTwo
    Real y = corner(2, integer(4*time) + 1);
  end SecondOfTwo;

// model Subscripts.TwoVarying
// final y 23
// final z 13
  model TwoVarying
    Real y = corner(integer(time) + 1, 3);
    Real z = corner(1, integer(2*time) + 1);
  end TwoVarying;

// model Subscripts.BranchNotTaken
// final y 2
  model BranchNotTaken "Where the subscript would be wrong it is not evaluated"
    Integer i = integer(3*time);
    Real a[3] = {1, 2, 3};
    Real y = if i >= 1 and i <= 2 then a[i] else 2;
  end BranchNotTaken;

// model Subscripts.OfInteger
// fails E0608 the subscript 3
  model OfInteger
    Integer a[2] = {5, 7};
    Integer n = a[integer(3*time) + 1];
  end OfInteger;

// model Subscripts.OfBoolean
// fails E0608 the subscript 3
  model OfBoolean
    Boolean a[2] = {true, time > 0.1};
    Boolean b = a[integer(3*time) + 1];
  end OfBoolean;

// model Subscripts.InRelation
// fails E0608 the subscript 3
  model InRelation "A comparison with what does not exist is neither true nor false"
    Integer a[2] = {5, 7};
    Boolean b = a[integer(3*time) + 1] > 6;
  end InRelation;

// model Subscripts.InCondition
// fails E0608 the subscript 3
  model InCondition
    Integer a[2] = {5, 7};
    Integer i = integer(3*time) + 1;
    Real y = if a[i] == 7 then 1 else 2;
  end InCondition;

// model Subscripts.AtEvent
// fails E0608 the subscript 4
  model AtEvent
    Real a[3] = {1, 2, 3};
    Integer k(start = 0, fixed = true);
    discrete Real y(start = 0, fixed = true);
  equation
    when sample(0.1, 0.1) then
      k = pre(k) + 1;
      y = a[k];
    end when;
  end AtEvent;

// model Subscripts.InAlgorithm
// fails E0608 the subscript 4
  model InAlgorithm
    Real a[3] = {1, 2, 3};
    Integer i = integer(4*time) + 1;
    Real y;
  algorithm
    y := 0;
    y := y + a[i];
  end InAlgorithm;

// model Subscripts.WrittenInAlgorithm
// fails E0609 the subscript 4
  model WrittenInAlgorithm
    Integer i = integer(4*time) + 1;
    Real a[3];
  algorithm
    a := {0, 0, 0};
    a[i] := 1;
  end WrittenInAlgorithm;

// model Subscripts.WrittenInside
// final a[1] 10
// final a[2] 20
// final a[3] 7
// final b[2,1] 5
  model WrittenInside
    Integer i = if time < 2 then 3 else 2;
    Real a[3];
    Real b[2, 2];
  algorithm
    a := {10, 20, 30};
    a[i] := 7;
    b := zeros(2, 2);
    b[i - 1, i - 2] := 5;
  end WrittenInside;

// model Subscripts.WrittenByItself
// final a[1] 2
// final a[2] 9
  model WrittenByItself "The subscript is that of before the assignment"
    Integer a[2];
  algorithm
    a := {1, 9};
    a[a[1]] := 2;
  end WrittenByItself;

// model Subscripts.ByBoolean
// final y 20
// final z 10
  model ByBoolean
    Real a[Boolean] = {10, 20};
    Real y = a[time > 0.5];
    Real z = a[time > 1.5];
  end ByBoolean;

// model Subscripts.Known
// refused E0306 the subscript 4 is outside 1..3
  model Known
    Real a[3] = {1, 2, 3};
    Real y = a[4];
  end Known;

// model Subscripts.ByParameter
// refused E0306 the subscript 5 is outside 1..3
  model ByParameter
    parameter Integer n = 5;
    Real a[3] = {1, 2, time};
    Real y = a[n];
  end ByParameter;

// model Subscripts.Slice
// refused E0306 outside 1..3
  model Slice
    Real a[3] = {1, 2, time};
    Real y[3] = a[2:4];
  end Slice;

// model Subscripts.Records
// fails E0608 the subscript 3
  model Records
    record R
      Real x;
      Integer n;
    end R;
    R r[2] = {R(time, 1), R(2, 2)};
    R s = r[integer(3*time) + 1];
  end Records;

// model Subscripts.Enumerations
// fails E0608 has no literal number 4
  model Enumerations
    type E = enumeration(a, b, c);
    E e = E(integer(4*time) + 1);
  end Enumerations;

// model Subscripts.EnumerationsInside
// final e 3
  model EnumerationsInside
    type E = enumeration(a, b, c);
    E e = E(integer(2*time) + 1);
  end EnumerationsInside;

// model Subscripts.Remainder
// fails E0608
  model Remainder
    Integer n = 2 - integer(3*time);
    Integer m = mod(7, n);
  end Remainder;

// model Subscripts.Quotient
// fails E0608
  model Quotient
    Integer n = 2 - integer(3*time);
    Integer m = div(7, n);
  end Quotient;

// model Subscripts.Large
// final y 4321
// final z 500
  model Large
    parameter Integer n = 5000;
    Real a[n] = {i + 0*time for i in 1:n};
    Integer i = integer(4320*time) + 1;
    Real y = a[i];
    Real z = a[500];
  end Large;

// model Subscripts.Empty
// refused E0306
  model Empty
    Real a[0];
    Integer i = integer(time) + 1;
    Real y = a[i];
  end Empty;
end Subscripts;
