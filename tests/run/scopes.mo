// Names in inherited text mean what they mean in the base class, not in the class that inherits.
//
// model Scopes.ConstantOfPackage
// final y 4
// final z 9
// model Scopes.ComponentShadows
// final y 4
// final z 100
// model Scopes.ImportOfBase
// final y 6
// final z 100
// model Scopes.RenamingImport
// final y 6
// final z 3
// model Scopes.UnqualifiedImport
// final y 6
// final z 70
// model Scopes.FunctionOfBase
// final y 3
// final z -1
// model Scopes.TypeOfBase
// final y 2
// final z 3
// model Scopes.EquationOfBase
// final x 4
// final k 9
// model Scopes.AlgorithmOfBase
// final x 8
// model Scopes.InitialOfBase
// final x 4
// model Scopes.TwoLevels
// final y 4
// final w 5
// final z 9
// model Scopes.SizeOfBase
// final total 4
// model Scopes.ModifierOfDerived
// final y 9
// model Scopes.ConditionOfBase
// final y 2
// model Scopes.ThroughComponent
// final d.y 4
// final d.z 9
// model Scopes.ShortClass
// final d.y 4
// model Scopes.ConnectInBase
// final q 4
// model Scopes.NestedClassOfBase
// final part.y 4
// model Scopes.NestedConstantModified
// final a.i.y 7
// model Scopes.CallThroughComponent
// final y 11
// final z 22
// model Scopes.ForLoopShadows
// final s 6
// model Scopes.RecordConstants
// final r.y 4
// model Scopes.OuterOfBase
// final d.y 5
// model Scopes.NotInBase
// refused E0201 `k` is not known
// model Scopes.ImportsAreNotInherited
// refused E0201 `c` is not known
// model Scopes.FunctionNotInBase
// refused E0201 `g` is not known
package Scopes
  package P
    constant Real k = 4;
    constant Real c = 6;
    constant Integer n = 4;
    function g
      input Real u;
      output Real y = 3*u;
    algorithm
    end g;
    type T = Real(start = 2);
    model B
      Real y = k*time;
    end B;
    model WithEquation
      Real x(start = 0, fixed = true);
    equation
      der(x) = k;
    end WithEquation;
    model WithAlgorithm
      Real x;
    algorithm
      x := k*time;
      x := x + k;
    end WithAlgorithm;
    model WithInitial
      Real x;
    initial equation
      x = k;
    equation
      der(x) = 0;
    end WithInitial;
    model WithSize
      Real a[n] = fill(1, n);
      Real total = sum(a);
    end WithSize;
    model WithFunction
      Real y = g(time);
    end WithFunction;
    model WithType
      T y(fixed = true);
    equation
      der(y) = 0;
    end WithType;
    model WithCondition
      constant Boolean flag = true;
      Part part if flag;
      Real y;
    equation
      connect(part.y, signal);
      y = signal;
    protected
      Signal signal;
    end WithCondition;
    connector Signal = Real;
    model Part
      Signal y = 2*time;
    end Part;
    model WithNested
      model Inner
        Real y = k*time;
      end Inner;
      Inner part;
    end WithNested;
    record R
      Real x = k;
    end R;
    model WithRecord
      R r1;
      Real y = r1.x;
    end WithRecord;
  end P;

  model ConstantOfPackage
    constant Real k = 9;
    extends P.B;
    Real z = k*time;
  end ConstantOfPackage;

  model ComponentShadows
    Real k = 100*time;
    extends P.B;
    Real z = k;
  end ComponentShadows;

  model Importing
    import Scopes.P.c;
    Real y = c*time;
  end Importing;
  model ImportOfBase
    parameter Real c = 100;
    extends Importing;
    Real z = c*time;
  end ImportOfBase;

  model Renaming
    import q = Scopes.P.c;
    Real y = q*time;
  end Renaming;
  model RenamingImport
    parameter Real q = 3;
    extends Renaming;
    Real z = q*time;
  end RenamingImport;

  model Unqualified
    import Scopes.P.*;
    Real y = c*time;
  end Unqualified;
  model UnqualifiedImport
    extends Unqualified;
    parameter Real c = 70;
    Real z = c*time;
  end UnqualifiedImport;

  model FunctionOfBase
    extends P.WithFunction;
    function g
      input Real u;
      output Real y = -u;
    algorithm
    end g;
    Real z = g(time);
  end FunctionOfBase;

  model TypeOfBase
    type T = Real(start = 3);
    extends P.WithType;
    T z(fixed = true);
  equation
    der(z) = 0;
  end TypeOfBase;

  model EquationOfBase
    parameter Real k = 9;
    extends P.WithEquation;
  end EquationOfBase;

  model AlgorithmOfBase
    extends P.WithAlgorithm;
    Real k = -time;
  end AlgorithmOfBase;

  model InitialOfBase
    extends P.WithInitial;
    parameter Real k = -3;
  end InitialOfBase;

  model Middle
    constant Real k = 5;
    extends P.B;
    Real w = k*time;
  end Middle;
  model TwoLevels
    extends Middle(final k = 5);
    Real z = P.n + 5*time;
  end TwoLevels;

  model SizeOfBase
    parameter Integer n = 2;
    extends P.WithSize;
  end SizeOfBase;

  model Adjustable
    parameter Real p = 1;
    Real y = p*time;
  end Adjustable;
  model ModifierOfDerived
    constant Real k = 9;
    extends Adjustable(p = k);
  end ModifierOfDerived;

  model ConditionOfBase
    extends P.WithCondition;
  end ConditionOfBase;

  model ThroughComponent
    parameter Real k = 50;
    ConstantOfPackage d;
  end ThroughComponent;

  model ShortClass
    constant Real k = 9;
    model D = P.B;
    D d;
  end ShortClass;

  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Source
    Pin p;
    parameter Real k = 1;
  equation
    p.v = k;
  end Source;
  model Load
    Pin p;
  equation
    p.i = 0;
  end Load;
  model Connected
    Source a(k = P.k);
    Load b;
  equation
    connect(a.p, b.p);
  end Connected;
  model ConnectInBase
    extends Connected;
    Load c;
    Real q = b.p.v;
  equation
    connect(c.p, a.p);
  end ConnectInBase;

  model NestedClassOfBase
    constant Real k = 8;
    extends P.WithNested;
  end NestedClassOfBase;

  model Nesting
    constant Real k = 1;
    model Inner
      Real y = k*time;
    end Inner;
    Inner i;
  end Nesting;
  model NestedConstantModified
    Nesting a(k = 7);
  end NestedConstantModified;

  model Tool
    parameter Real m = 1;
    function f
      input Real u;
      output Real y = 11*u;
    algorithm
    end f;
  end Tool;
  model Tool2
    function f
      input Real u;
      output Real y = 22*u;
    algorithm
    end f;
  end Tool2;
  model CallsTool
    Tool t;
    Real y = t.f(time);
  end CallsTool;
  model CallThroughComponent
    extends CallsTool;
    Tool2 s;
    Real z = s.f(time);
  end CallThroughComponent;

  model ForLoopShadows
    Real i = 10;
    Real a[3];
    Real s = sum(a);
  equation
    for i in 1:3 loop
      a[i] = i;
    end for;
  end ForLoopShadows;

  model RecordConstants
    constant Real k = 1;
    P.WithRecord r;
  end RecordConstants;

  model UsesOuter
    outer Real level;
    Real y = level;
  end UsesOuter;
  model DerivedUser
    extends UsesOuter;
    Real other = 3;
  end DerivedUser;
  model OuterOfBase
    inner Real level = 5*time;
    DerivedUser d;
  end OuterOfBase;

  model NoConstant
    Real y = k*time;
  end NoConstant;
  model NotInBase
    constant Real k = 9;
    extends NoConstant;
  end NotInBase;

  model ImportsAreNotInherited
    extends Importing;
    Real z = c*time;
  end ImportsAreNotInherited;

  model NoFunction
    Real y = g(time);
  end NoFunction;
  model FunctionNotInBase
    extends NoFunction;
    function g
      input Real u;
      output Real y = u;
    algorithm
    end g;
  end FunctionNotInBase;
end Scopes;
