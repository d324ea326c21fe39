// Names, classes and types that the language does not allow.
//
// model Illegal.EnumerationByInteger
// error E0301 is indexed by an enumeration
// model Illegal.IntegerByEnumeration
// error E0301 is indexed by Integer
// model Illegal.BooleanByInteger
// error E0301 is indexed by Boolean
// model Illegal.OtherEnumeration
// error E0301 is indexed by an enumeration
// model Illegal.WrongSize
// error E0302 input `x` needs size 3, but is given 2
// model Illegal.WrongSizeOfType
// error E0302 input `x` needs size 3, but is given 2
// model Illegal.WrongSizeOfMatrix
// error E0302 input `b` needs size 2, but is given 3
// model Illegal.InModel
// error E0202 cannot be looked up in the model
// model Illegal.ConstantInModel
// error E0202 cannot be looked up in the model
// model Illegal.InPartial
// error E0208 is partial
// model Illegal.PartialShort
// error E0208 is partial
// model Illegal.FunctionThroughComponent
// error E0202 looked up through a component
// model Illegal.FunctionThroughConditional
// error E0215 conditional component
// model Illegal.AssignedConditional
// error E0215 conditional component
// model Illegal.ExtendsReplaceable
// error E0217 is replaceable
// model Illegal.RedeclaredAgain
// error E0207 not replaceable any more
// model Illegal.UnusedClassDoesNotFit
// error E0219 does not fit
// model Illegal.BlockWithoutDirection
// error E0216 neither inputs nor outputs
// model Illegal.DirectedWithUndirected
// error E0404 is neither
// model Illegal.TwoSourcesFarApart
// error E0404 both sources
// model Illegal.ValueOfBusElement
// error E0209 only if a connection names it
// model Illegal.SeveralResults
// error E0302 has several results
// model Illegal.PublicLocal
// error E0216 must be inputs or outputs
package Illegal
  type E = enumeration(a, b);
  type F = enumeration(a, b);
  model EnumerationByInteger
    Real x[E] = {time, 2*time};
    Real y = x[2];
  end EnumerationByInteger;
  model IntegerByEnumeration
    Real x[2] = {time, 2*time};
    Real y = x[E.b];
  end IntegerByEnumeration;
  model BooleanByInteger
    Real x[Boolean] = {time, 2*time};
    Real y = x[1];
  end BooleanByInteger;
  model OtherEnumeration
    Real x[E] = {time, 2*time};
    Real y = x[F.b];
  end OtherEnumeration;

  function ofThree
    input Real x[3];
    output Real y;
  algorithm
    y := sum(x);
    y := 2*y;
  end ofThree;
  type Vector3 = Real[3];
  function ofVector
    input Vector3 x;
    output Real y;
  algorithm
    y := sum(x);
    y := 2*y;
  end ofVector;
  function ofMatrix
    input Real a[:, :];
    input Real b[size(a, 1)];
    output Real y;
  algorithm
    y := sum(b);
    y := y + sum(a);
  end ofMatrix;
  model WrongSize
    Real y = ofThree({time, 1});
  end WrongSize;
  model WrongSizeOfType
    Real y = ofVector({time, 1});
  end WrongSizeOfType;
  model WrongSizeOfMatrix
    Real y = ofMatrix([time, 1; 2, 3], {time, 2, 3});
  end WrongSizeOfMatrix;

  model NoPackage
    constant Real k = 1;
    Real x = 2;
    model Part
      Real y = 3;
    end Part;
    function f
      input Real u;
      output Real y = 2*u;
    algorithm
    end f;
  end NoPackage;
  model InModel
    NoPackage.Part p;
  end InModel;
  model ConstantInModel
    Real y = NoPackage.k;
  end ConstantInModel;
  partial package Unfinished
    constant Real k = 1;
  end Unfinished;
  model InPartial
    Real y = Unfinished.k;
  end InPartial;
  partial model Sketch
    Real y = 1;
  end Sketch;
  model PartialShort
    model Short = Sketch;
    Short s;
  end PartialShort;
  model FunctionThroughComponent
    NoPackage a;
    function g = a.f;
    Real y = g(time);
  end FunctionThroughComponent;
  model FunctionThroughConditional
    NoPackage a if true;
    Real y = a.f(time);
  end FunctionThroughConditional;
  model AssignedConditional
    Real x if true;
  algorithm
    x := time;
  end AssignedConditional;

  model ExtendsReplaceable
    replaceable model A
      Real x = 1;
    end A;
    extends A;
  end ExtendsReplaceable;
  model Base
    replaceable model M
      Real x = 1;
    end M;
    M m;
  end Base;
  model Once
    extends Base;
    redeclare model extends M
      Real y = 2;
    end M;
  end Once;
  model RedeclaredAgain
    extends Once;
    redeclare model extends M
      Real z = 3;
    end M;
  end RedeclaredAgain;
  model Unused
    replaceable model M = Base;
  end Unused;
  model UnusedClassDoesNotFit
    model Other
      Real x = 1;
    end Other;
    Unused u(redeclare model M = Other);
  end UnusedClassDoesNotFit;

  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model BlockWithoutDirection
    block B
      Pin p;
    equation
      p.v = 1;
    end B;
    B b;
  end BlockWithoutDirection;
  connector Directed
    input Real x;
    Real v;
    flow Real i;
  end Directed;
  connector Undirected
    Real x;
    Real v;
    flow Real i;
  end Undirected;
  model DirectedWithUndirected
    model Parts
      Directed a;
      Undirected b;
    end Parts;
    Parts p;
  equation
    connect(p.a, p.b);
    p.a.v = 1;
    p.b.x = 2;
  end DirectedWithUndirected;
  connector RealInput = input Real;
  connector RealOutput = output Real;
  model Source
    RealOutput y = time;
  end Source;
  model Sink
    RealInput u;
  end Sink;
  model TwoSourcesFarApart
    Source a, b;
    Sink c;
  equation
    connect(a.y, c.u);
    connect(c.u, b.y);
  end TwoSourcesFarApart;
  expandable connector Bus
    Real x;
  end Bus;
  model ValueOfBusElement
    Bus bus(x = 1);
    Source s;
  equation
    connect(s.y, bus.x);
  end ValueOfBusElement;
  function two
    input Real u;
    output Real a = u;
    output Real b = 2*u;
  algorithm
  end two;
  model SeveralResults
    Real a[2], b[2];
  equation
    (a, b) = two({time, 2*time});
  end SeveralResults;
  function withPublic
    input Real u;
    output Real y;
    Real z;
  algorithm
    z := u;
    y := z;
  end withPublic;
  model PublicLocal
    Real y = withPublic(time);
  end PublicLocal;
end Illegal;
