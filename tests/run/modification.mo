// Modifications of arrays, records and inherited elements, `each`, `final`, `break`, conditional and protected
// elements, encapsulation (Language Specification 3.6, 5.3, 7.1 and 7.2).
//
// model Modification.EachElement
// final a[1].k 3
// final a[2].k 3
// model Modification.Spread
// final a[1].k 1
// final a[3].k 3
// model Modification.SpreadNested
// final h.a[2].k 20
// final g[1].a[2].k 2
// final g[2].a[1].k 3
// model Modification.EachOutsideArray
// final g[1].a[2].k 7
// final g[2].a[3].k 9
// model Modification.VectorOfEach
// final v[2].w[3] 3
// final v[1].w[1] 1
// model Modification.ArrayAttribute
// final x[1] 1
// final x[2] 5
// model Modification.OuterWins
// final b.a.k 4
// final c.a.k 3
// final d.a.k 2
// model Modification.ByParameterOfAround
// final b.a.k 8
// model Modification.ExtendsThenComponent
// final e.k 5
// final f.k 6
// model Modification.RecordBinding
// final r.x 3
// final r.y 4
// final s.x 3
// final s.y 9
// model Modification.RecordArray
// final r[2].x 2
// final r[2].y 20
// model Modification.RecordDefault
// final r.y 2
// final q.y 6
// model Modification.StartOverType
// final x 4
// model Modification.TypeChain
// final x 3
// model Modification.Break
// final y 2
// model Modification.BreakBinding
// final d.k 12
// model Modification.BreakConnect
// final total 3
// model Modification.ConditionalOff
// final y 0
// model Modification.ConditionalOn
// final y 5
// model Modification.ConditionalArray
// final p[1].y 5
// model Modification.ConditionByModifier
// final a.y 5
// final b.y 0
// model Modification.ProtectedInside
// final d.y 7
// model Modification.Encapsulated
// final m.y 3
// model Modification.GlobalName
// final y 11
// model Modification.ImportChain
// final y 5
// model Modification.ImportList
// final y 8
// model Modification.MultipleInheritance
// final x 1
// final y 2
// model Modification.Diamond
// final k 3
// final y 3
// model Modification.SameDeclaration
// final y 2
// model Modification.EnumerationParameter
// final m.y 2
// model Modification.EnumerationBegins
// final first 1
// final before 1
// final second 2
// final later 3
// model Modification.SizeByModifier
// final a.total 6
// final b.total 15
// model Modification.SizeByBinding
// final a.n 4
// model Modification.ShortWithSizes
// final v[2,3] 6
// model Modification.FunctionDefaults
// final y 12
// final z 20
// model Modification.PackageConstant
// final y 9
// final z 2
// model Modification.PackageChain
// final y 18
// model Modification.FinalElement
// refused E0206 final
// model Modification.FinalModifier
// refused E0206 final
// model Modification.Twice
// refused E0211 twice
// model Modification.NoElement
// refused E0205 no element
// model Modification.Protected
// refused E0210 protected
// model Modification.ProtectedRead
// refused E0210 protected
// model Modification.NotSpread
// refused E0302 each
// model Modification.TooManyValues
// refused E0302 the sizes 2
// model Modification.TooManyInside
// refused E0302 the sizes 2
// model Modification.TooManyRows
// refused E0302 the sizes 2, 2
// model Modification.EncapsulatedWithoutImport
// refused E0201 not known
// model Modification.DeclaredTwice
// refused E0204 declared twice
// model Modification.InheritsItself
// refused E0203 itself
// model Modification.NotConstant
// refused E0303 not constant
package Modification
  model A
    parameter Real k = 1;
    Real y = k*time;
  end A;
  model EachElement
    A a[2](each k = 3);
  end EachElement;
  model Spread
    A a[3](k = {1, 2, 3});
  end Spread;
  model Holder
    A a[3](k = {10, 20, 30});
  end Holder;
  model Pair
    A a[2];
  end Pair;
  model SpreadNested
    Holder h;
    Pair g[2](a(k = {{1, 2}, {3, 4}}));
  end SpreadNested;
  model EachOutsideArray
    Holder g1(a(each k = 7));
    Triple g[2](a(k = {{7, 7, 7}, {9, 9, 9}}));
  end EachOutsideArray;
  model Triple
    A a[3];
  end Triple;
  model Vector
    parameter Real w[3];
    Real y = w[1]*time;
  end Vector;
  model VectorOfEach
    Vector v[2](each w = {1, 2, 3});
  end VectorOfEach;
  model ArrayAttribute
    Real x[2](start = {1, 5}, each fixed = true);
  equation
    der(x) = zeros(2);
  end ArrayAttribute;
  model B
    A a(k = 2);
  end B;
  model C
    extends B(a(k = 3));
  end C;
  model OuterWins
    C b(a(k = 4));
    C c;
    B d;
  end OuterWins;
  model ByParameterOfAround
    parameter Real k = 8;
    B b(a(k = k));
  end ByParameterOfAround;
  model Derived
    extends A(k = 5);
  end Derived;
  model ExtendsThenComponent
    Derived e;
    Derived f(k = 6);
  end ExtendsThenComponent;
  record R
    Real x = 1;
    Real y = 2*x;
  end R;
  model RecordBinding
    parameter R r = R(3, 4);
    parameter R s(x = 3, y = 9);
  end RecordBinding;
  model RecordArray
    parameter R r[2](x = {1, 2}, y = {10, 20});
  end RecordArray;
  model RecordDefault
    parameter R r;
    parameter R q(x = 3);
  end RecordDefault;
  type T2 = Real(start = 2);
  model StartOverType
    T2 x(start = 4, fixed = true);
  equation
    der(x) = 0;
  end StartOverType;
  model TypeChain
    type T3 = T2(start = 3);
    type T4 = T3;
    T4 x(fixed = true);
  equation
    der(x) = 0;
  end TypeChain;
  model WithExtra
    Real y = 2*time;
    A superfluous(k = 4);
  end WithExtra;
  model Break
    extends WithExtra(break superfluous);
  end Break;
  model BreakBinding
    model W
      parameter Real k = 5;
    end W;
    W d(k = 12);
  end BreakBinding;
  connector Pin
    Real v;
    flow Real i;
  end Pin;
  model Source
    Pin p;
    parameter Real v0 = 1;
  equation
    p.v = v0;
  end Source;
  model Load
    Pin p;
  equation
    p.i = p.v;
  end Load;
  model Net
    Source s(v0 = 3);
    Load a, b;
  equation
    connect(s.p, a.p);
    connect(s.p, b.p);
  end Net;
  model BreakConnect
    extends Net(break connect(s.p, b.p));
    Real total = -s.p.i;
  end BreakConnect;
  connector Signal = Real;
  model Part
    Signal y = 5*time;
  end Part;
  model OptionalZero
    parameter Boolean use = false;
    Part part if use;
    Zero zero if not use;
    Signal y;
  equation
    connect(part.y, y);
    connect(zero.y, y);
  end OptionalZero;
  model Zero
    Signal y = 0;
  end Zero;
  model ConditionalOff
    extends OptionalZero;
  end ConditionalOff;
  model ConditionalOn
    extends OptionalZero(use = true);
  end ConditionalOn;
  model ConditionalArray
    parameter Integer n = 1;
    Part p[n] if n > 0;
    Part q[2] if n > 1;
  end ConditionalArray;
  model ConditionByModifier
    OptionalZero a(use = true);
    OptionalZero b(use = false);
  end ConditionByModifier;
  model Hidden
  protected
    parameter Real k = 7;
  public
    Real y = k*time;
  end Hidden;
  model ProtectedInside
    Hidden d;
  end ProtectedInside;
  package Constants
    constant Real c = 3;
    constant Real d = 5;
  end Constants;
  encapsulated model Sealed
    import Modification.Constants;
    Real y = Constants.c*time;
  end Sealed;
  model Encapsulated
    Sealed m;
  end Encapsulated;
  model GlobalName
    package Constants
      constant Real c = -1;
    end Constants;
    Real y = .Modification.Constants.c*time + 8*time;
  end GlobalName;
  model ImportChain
    import C1 = Modification.Constants;
    Real y = C1.d*time;
  end ImportChain;
  model ImportList
    import Modification.Constants.{c, d};
    Real y = (c + d)*time;
  end ImportList;
  model First
    Real x = time;
  end First;
  model Second
    Real y = 2*time;
  end Second;
  model MultipleInheritance
    extends First;
    extends Second;
  end MultipleInheritance;
  model Left
    extends A(k = 3);
  end Left;
  model Right
    extends A(k = 3);
  end Right;
  model Diamond
    extends Left;
    extends Right;
  end Diamond;
  model SameDeclaration
    extends Second;
    extends Second2;
  end SameDeclaration;
  model Second2
    Real z = 3*time;
  end Second2;
  type Kind = enumeration(one, two, three);
  model EnumerationBegins
    Kind e, f(fixed = true), s(start = Kind.two);
    Integer first(start = 0, fixed = true), before(start = 0, fixed = true), second(start = 0, fixed = true);
    Integer later = Integer(e);
  equation
    when time > 0.25 then
      first = Integer(pre(e));
      before = Integer(pre(f));
      second = Integer(pre(s));
    end when;
    when time > 0.5 then
      e = Kind.three;
      f = Kind.three;
      s = Kind.three;
    end when;
  end EnumerationBegins;
  model ByKind
    parameter Kind kind = Kind.one;
    Real y = if kind == Kind.one then time else if kind == Kind.two then 2*time else 3*time;
  end ByKind;
  model EnumerationParameter
    ByKind m(kind = Kind.two);
  end EnumerationParameter;
  model Sized
    parameter Integer n = 3;
    Real v[n] = {i*time for i in 1:n};
    Real total = sum(v);
  end Sized;
  model SizeByModifier
    Sized a;
    Sized b(n = 5);
  end SizeByModifier;
  model Open
    parameter Real v[:] = {1, 2};
    final parameter Integer n = size(v, 1);
  end Open;
  model SizeByBinding
    Open a(v = {1, 2, 3, 4});
  end SizeByBinding;
  model ShortWithSizes
    type Row = Real[3];
    type Matrix = Row[2];
    Matrix v = [1, 2, 3; 4, 5, 6]*time;
  end ShortWithSizes;
  function scale
    input Real u;
    input Real factor = 2;
    input Real offset = factor;
    output Real y;
  algorithm
    y := factor*u + offset;
  end scale;
  model FunctionDefaults
    function times10 = scale(factor = 10);
    Real y = scale(5*time);
    Real z = times10(time);
  end FunctionDefaults;
  package P
    constant Real a = 1;
    constant Real b = 2*a;
    function f
      input Real u;
      output Real y = b*u;
    algorithm
    end f;
  end P;
  package Q
    extends P(a = 4.5);
  end Q;
  model PackageConstant
    Real y = Q.b*time;
    Real z = P.f(time);
  end PackageConstant;
  model PackageChain
    package S = Q(a = 9);
    Real y = S.f(time);
  end PackageChain;

  model WithFinal
    final parameter Real k = 1;
  end WithFinal;
  model FinalElement
    WithFinal a(k = 2);
  end FinalElement;
  model FinalIn
    extends A(final k = 2);
  end FinalIn;
  model FinalModifier
    FinalIn a(k = 3);
  end FinalModifier;
  model Twice
    A a(k = 1, k = 2);
  end Twice;
  model NoElement
    A a(q = 1);
  end NoElement;
  model Protected
    Hidden a(k = 1);
  end Protected;
  model ProtectedRead
    Hidden a;
    Real y = a.k;
  end ProtectedRead;
  model NotSpread
    A a[2](k = 3);
  end NotSpread;
  model TooManyValues
    A a[2](k = {1, 2, 3});
  end TooManyValues;
  model TooManyInside
    Pair g[2](a(k = {{1, 2}, {3, 4}, {5, 6}}));
  end TooManyInside;
  model TooManyRows
    A a[2, 2](k = [1, 2; 3, 4; 5, 6]);
  end TooManyRows;
  encapsulated model EncapsulatedWithoutImport
    Real y = Constants.c*time;
  end EncapsulatedWithoutImport;
  model DeclaredTwice
    Real x = 1;
    Real x = 2;
  end DeclaredTwice;
  model InheritsItself
    extends InheritsItself;
  end InheritsItself;
  model NotConstant
    parameter Real k = 2;
    model Inner
      Real y = k;
    end Inner;
    Inner i;
  end NotConstant;
end Modification;
