// What the language asks of when-clauses and of what switches.
//
// model EventRules.TwoWhens
// refused E0522 a second when-equation sets `x`
// model EventRules.TwoWhensOfInteger
// refused E0403 has 1 unknown, but 2 equations
// model EventRules.ChosenByParameter
// final n 2
// model EventRules.OneWhenTwoBranches
// final n 2
// model EventRules.WithoutEvents
// refused E0503 the condition of a `when` must generate events
// model EventRules.SwitchedWithoutEvents
// refused E0506 `n` changes at events only
// model EventRules.InVaryingIf
// refused E0502 in an if-equation whose condition varies
// model EventRules.RootsInBindings
// final p.r 1
// final l.r 0
// model EventRules.LeftLimitsOfWhatStays
// final z 2.5
// final n 0
// final k 3
// final y 8
// model EventRules.Delayed
// refused E0311 `delay` cannot be used in a function
// model EventRules.NamedAsType
// refused E0202 looked up through a component
// model EventRules.NamedAsTypeMutually
// refused E0202 looked up through a component
// model EventRules.DifferentRanges
// refused E0302 the range of `i` is not clear
// model EventRules.EqualRanges
// final y 36
// model EventRules.Ambiguous
// refused E0212 several functions of
// model EventRules.ExactFitsFirst
// final s 3
// model EventRules.TwoOuterClasses
// refused E0209 has another class
package EventRules
  model TwoWhens
    Real x;
  equation
    when time > 0.5 then
      x = 1;
    end when;
    when time > 0.7 then
      x = 2;
    end when;
  end TwoWhens;

  model TwoWhensOfInteger
    Integer n(start = 0, fixed = true);
  equation
    when time > 0.5 then
      n = 1;
    end when;
    when time > 0.7 then
      n = 2;
    end when;
  end TwoWhensOfInteger;

  model ChosenByParameter
    parameter Boolean first = false;
    Integer n(start = 0, fixed = true);
  equation
    if first then
      when time > 0.5 then
        n = 1;
      end when;
    else
      when time > 0.7 then
        n = 2;
      end when;
    end if;
  end ChosenByParameter;

  model OneWhenTwoBranches
    Integer n(start = 0, fixed = true);
  equation
    when time > 0.5 then
      n = 1;
    elsewhen time > 0.7 then
      n = 2;
    end when;
  end OneWhenTwoBranches;

  model WithoutEvents
    Integer n(start = 0, fixed = true);
  equation
    when noEvent(time > 0.5) then
      n = 1;
    end when;
  end WithoutEvents;

  model SwitchedWithoutEvents
    Integer n;
  equation
    if noEvent(time > 0.5) then
      n = 1;
    else
      n = 2;
    end if;
  end SwitchedWithoutEvents;

  model InVaryingIf
    Integer n(start = 0, fixed = true);
    Real x = time;
  equation
    if x > 0.3 then
      when time > 0.5 then
        n = 1;
      end when;
    end if;
  end InVaryingIf;

  type Angle
    extends Real;
    function equalityConstraint
      input Angle a, b;
      output Real r[0];
    algorithm
    end equalityConstraint;
  end Angle;

  connector Pin
    Real v;
    Angle angle;
    flow Real i;
  end Pin;

  model Source
    Pin a;
    Boolean r = Connections.isRoot(a.angle);
  equation
    Connections.potentialRoot(a.angle, 0);
    a.v = 2;
    if Connections.isRoot(a.angle) then
      a.angle = time;
    end if;
  end Source;

  model Load
    Pin a;
    Boolean r = Connections.isRoot(a.angle);
  equation
    Connections.potentialRoot(a.angle, 1);
    a.v = a.i*2;
    if Connections.isRoot(a.angle) then
      a.angle = 0;
    end if;
  end Load;

  model RootsInBindings
    Source p;
    Load l;
  equation
    connect(p.a, l.a);
  end RootsInBindings;

  model LeftLimitsOfWhatStays
    parameter Real p = 2;
    parameter Integer a[2] = {1, 3};
    parameter Boolean on = true;
    parameter Real later(fixed = false);
    Real y = pre(later);
    Real z(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
    Integer k = pre(a[2]);
  initial equation
    later = 4*p;
  equation
    der(z) = 1;
    when z > 0.5 then
      reinit(z, pre(p));
    end when;
    when sample(0.1, 0.1) then
      n = pre(n) + (if edge(on) or change(a[1]) then 1 else 0);
    end when;
  end LeftLimitsOfWhatStays;

  model Delayed
    function late
      input Real x;
      output Real y;
    algorithm
      y := delay(x, 0.1);
    end late;
    Real y = late(time);
  end Delayed;

  model NamedAsType
    A.B A;
  end NamedAsType;

  model NamedAsTypeMutually
    A.B C;
    C.B A;
  end NamedAsTypeMutually;

  model DifferentRanges
    Real x[3] = {1, 2, 3};
    Real z[2] = {10, 20};
    Real y = sum(z[i] + x[i] for i);
  end DifferentRanges;

  model EqualRanges
    Real x[3] = {1, 2, 3};
    Real z[3] = {10, 10, 10};
    Real y = sum(z[i] + x[i] for i);
  end EqualRanges;

  operator record Twofold
    Real x;
    encapsulated operator '+'
      function a
        import EventRules.Twofold;
        input Twofold p;
        input Twofold q;
        output Twofold r;
      algorithm
        r := Twofold(p.x + q.x);
      end a;
      function b
        import EventRules.Twofold;
        input Twofold p;
        input Twofold q;
        output Twofold r;
      algorithm
        r := Twofold(p.x - q.x);
      end b;
    end '+';
  end Twofold;

  model Ambiguous
    Twofold a(x = 1);
    Twofold c = a + a;
  end Ambiguous;

  operator record Number
    Real x;
    encapsulated operator '+'
      function ofReal
        import EventRules.Number;
        input Number p;
        input Real q;
        output Number r;
      algorithm
        r := Number(p.x + 10*q);
      end ofReal;
      function ofInteger
        import EventRules.Number;
        input Number p;
        input Integer q;
        output Number r;
      algorithm
        r := Number(p.x + q);
      end ofInteger;
    end '+';
  end Number;

  model ExactFitsFirst
    Number a(x = 1);
    Number c = a + 2;
    Real s = c.x;
  end ExactFitsFirst;

  model W
    Real k = 1;
  end W;

  model V
    Real k = 2;
  end V;

  model B
    outer W w;
    Real y = w.k;
  end B;

  model C
    outer V w;
    Real y = w.k;
  end C;

  model TwoOuterClasses
    B b;
    C c;
  end TwoOuterClasses;
end EventRules;
