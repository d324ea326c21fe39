// What is not reached does not fail; loops over vectors that vary; conditions of when-clauses.
//
// model NotReached.Elseif
// final x 3
// model NotReached.Branch
// final x 1
// model NotReached.Reached
// fails E0608 never
// at 0.5
// model NotReached.Certain
// refused E0308 never
// model NotReached.CertainParameter
// refused E0308 never
// model NotReached.VectorRange
// final x[1] 10
// final x[2] 20
// final x[3] 30
// model NotReached.VaryingVectorRange
// stop 2
// final s 6
// final last 3
// model NotReached.ChangedRange
// refused E0214 changes the values it runs over
// model NotReached.StartIsNoNumber
// fails E0608 the start value of `x` is not a number
// model NotReached.FixedAlgebraic
// final p 1e6
// final M 116.864684135
package NotReached
  function never
    input Real x;
    output Real y;
  algorithm
    assert(x > 0, "never");
    y := x;
  end never;

  model Elseif
    parameter Integer i = 4;
    Real x;
  algorithm
    if i == 4 then
      x := 3;
    elseif never(-1) > 0 then
      x := 4;
    end if;
  end Elseif;

  model Branch
    parameter Boolean b = false;
    Real x = if b then never(-2) else 1;
  end Branch;

  model Reached
    Real x = if time > 0.5 then never(-2) else 1;
  end Reached;

  model Certain
    Real x = never(-2)*time;
  end Certain;

  model CertainParameter
    parameter Real p = never(-2);
    Real x = p*time;
  end CertainParameter;

  model VectorRange
    Integer y[3] = {2, 3, 1};
    Integer x[3];
  algorithm
    for i in y loop
      x[i] := 10*i;
    end for;
  end VectorRange;

  model VaryingVectorRange
    Real v[3] = {time, 0.5*time, 1.5*time};
    Real s;
    Real last;
  algorithm
    s := 0;
    last := 0;
    for u in v loop
      s := s + u;
      last := u;
    end for;
  end VaryingVectorRange;

  model ChangedRange
    Real v[2];
  algorithm
    v := {time, 2*time};
    for u in v loop
      v[1] := u;
    end for;
  end ChangedRange;

  model FixedAlgebraic "Fixed starts of variables that are no states"
    Real p(start = 1e6, fixed = true);
    Real T(start = 298.15, fixed = true);
    Real d;
    Real u;
    Real U;
    Real M;
  equation
    d = p/(287*T);
    u = 1005.45*(T - 298.15) - p/d;
    U = u*M;
    M = 10*d;
    der(U) = 0;
    der(M) = 0;
  end FixedAlgebraic;

  model StartIsNoNumber
    parameter Real p = -1;
    Real x(start = sqrt(p), fixed = true);
  equation
    der(x) = 1;
  end StartIsNoNumber;
end NotReached;
