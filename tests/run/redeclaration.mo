// Constraining clauses, redeclarations over modifications, and modifications of classes inside components
// (Language Specification 3.6, 7.2 and 7.3).
//
// model Redeclaration.ConstrainedComponent
// final y 2
// model Redeclaration.OwnOverConstraining
// final y 3
// model Redeclaration.ConstrainedClass
// final t.m.y 2
// final u.m.y 4
// final v.m.y 18
// final w.m.y 14
// model Redeclaration.ConstrainedRedeclaredComponent
// final u.b.y 4
// final v.b.y 18
// model Redeclaration.OriginalModifiersStay
// final d.a.x 1
// final d.a.y 2
// final e.a.x 9
// final e.a.y 2
// model Redeclaration.NoConstrainedOriginal
// final d.a.x 3
// model Redeclaration.ExtendsBetween
// final e.a.x 7
// final e.a.y 8
// final e.a.z 5
// model Redeclaration.RedeclareOverModifier
// final e.a.x 8
// model Redeclaration.ModifierOverRedeclare
// final f.a.x 11
// model Redeclaration.TwoRedeclarations
// final f.a.x 6
// final f.a.y 4
// model Redeclaration.NewConstraint
// final f.a.x 2
// final f.a.y 3
// model Redeclaration.ShortOriginal
// final u.m.x 4
// final v.m.x 5
// model Redeclaration.LongRedeclaration
// final u.m.x 4
// model Redeclaration.BodyRedeclaration
// final m.x 3
// final m.y 21
// model Redeclaration.ClassExtendsConstrained
// final m.x 4
// final m.twice 8
// model Redeclaration.Package
// final t.y 2
// final u.y 5
// final v.y 7
// model Redeclaration.Function
// final t.y 3
// final u.y 10
// model Redeclaration.Types
// final t.x 2
// final u.x 3
// model Redeclaration.ConstrainedBinding
// final u.m.y 50
// model Redeclaration.Arrays
// final u.a[1].x 1
// final u.a[2].x 2
// final u.a[2].y 9
// model Redeclaration.ClassModification
// final b.y 3
// final a.b.y 5
// final c.b.y 1
// model Redeclaration.ClassModificationDeep
// final h.a.b.y 6
// final i.a.b.y 1
// final j.a.b.y 8
// model Redeclaration.ClassModificationByParameter
// final a.b.y 12
// model Redeclaration.ClassModificationArray
// final a[1].b.y 4
// final a[2].b.y 4
// final b[3].y 2
// model Redeclaration.ClassModificationOverwritten
// final a.b.y 9
// model Redeclaration.ClassModificationBase
// final a.b.y 5
// model Redeclaration.ClassModificationType
// final a.x 7
// model Redeclaration.ClassModificationPackage
// final a.y 30
// model Redeclaration.ClassModificationThroughTwo
// final a.b.y 5
// final a.c.y 5
// model Redeclaration.NestedRedeclare
// final s.u.b.y 10
// final s.u.b.k 5
// model Redeclaration.RedeclareInArray
// final u[1].b.y 4
// final u[2].b.y 4
// model Redeclaration.DoesNotFit
// refused E0219 does not fit
// model Redeclaration.DoesNotFitNewConstraint
// refused E0219 does not fit
// model Redeclaration.FinalInConstraint
// refused E0206 final
// model Redeclaration.UnknownInConstraint
// refused E0205 no element
// model Redeclaration.UnknownInClass
// refused E0205 no element
package Redeclaration
  model A
    parameter Real k = 1;
    Real y = k*time;
  end A;
  model B
    parameter Real k = 5;
    Real y = 2*k*time;
  end B;
  model ConstrainedComponent
    replaceable A a constrainedby A(k = 2);
    Real y = a.y;
  end ConstrainedComponent;
  model OwnOverConstraining
    replaceable A a(k = 3) constrainedby A(k = 2);
    Real y = a.y;
  end OwnOverConstraining;
  model T
    replaceable model M = A constrainedby A(k = 2);
    M m;
  end T;
  model ConstrainedClass
    T t;
    T u(redeclare model M = B);
    T v(redeclare model M = B(k = 9));
    T w(redeclare model M = B, m(k = 7));
  end ConstrainedClass;
  model U
    replaceable A b constrainedby A(k = 2);
  end U;
  model ConstrainedRedeclaredComponent
    U u(redeclare B b);
    U v(redeclare B b(k = 9));
  end ConstrainedRedeclaredComponent;

  model X
    parameter Real x = 0;
  end X;
  model XY
    parameter Real x = 3.14;
    parameter Real y = 0;
  end XY;
  model XYZ
    parameter Real x = 3;
    parameter Real y = 4;
    parameter Real z = 5;
  end XYZ;
  model C
    replaceable X a(x = 1);
  end C;
  model OriginalModifiersStay
    model D
      extends C(redeclare XY a(y = 2));
    end D;
    model E
      extends C(redeclare XY a(x = 9, y = 2));
    end E;
    D d;
    E e;
  end OriginalModifiersStay;
  model NoConstrainedOriginal
    model C1
      replaceable X a(x = 1) constrainedby X;
    end C1;
    C1 d(redeclare XYZ a);
  end NoConstrainedOriginal;

  model C2
    replaceable XY a constrainedby XY(x = 5, y = 6);
  end C2;
  model D2
    extends C2(a(x = 7));
  end D2;
  model ExtendsBetween
    model E
      extends D2(redeclare XYZ a(y = 8));
    end E;
    E e;
  end ExtendsBetween;
  model RedeclareOverModifier
    model E
      extends D2(redeclare XYZ a(x = 8));
    end E;
    E e;
  end RedeclareOverModifier;
  model ModifierOverRedeclare
    model E
      extends C2(redeclare XYZ a(x = 8));
    end E;
    model F
      extends E(a(x = 11));
    end F;
    F f;
  end ModifierOverRedeclare;
  model TwoRedeclarations
    model D
      replaceable X a constrainedby X(x = 6);
    end D;
    model E
      extends D(redeclare replaceable XY a(y = 77));
    end E;
    model F
      extends E(redeclare XYZ a);
    end F;
    F f;
  end TwoRedeclarations;
  model NewConstraint
    model D
      replaceable X a constrainedby X(x = 1);
    end D;
    model E
      extends D(redeclare replaceable XY a constrainedby XY(x = 2, y = 3));
    end E;
    model F
      extends E(redeclare XYZ a);
    end F;
    F f;
  end NewConstraint;
  model ShortOriginal
    model H
      replaceable model M = X(x = 4);
      M m;
    end H;
    H u(redeclare model M = XY);
    H v(redeclare model M = XY(x = 5));
  end ShortOriginal;
  model LongRedeclaration
    model H
      replaceable model M = X constrainedby X(x = 4);
      M m;
    end H;
    model I
      extends H;
      redeclare model M
        parameter Real x = 8;
        parameter Real other = 1;
      end M;
    end I;
    I u;
  end LongRedeclaration;
  model BodyRedeclaration
    extends BodyBase;
    redeclare model M = XYZ(y = 21);
  end BodyRedeclaration;
  model BodyBase
    replaceable model M = X;
    M m;
  end BodyBase;
  model ClassExtendsConstrained
    model H
      replaceable model M = X constrainedby X(x = 4);
      M m;
    end H;
    extends H;
    redeclare model extends M
      Real twice = 2*x;
    end M;
  end ClassExtendsConstrained;

  package P1
    constant Real k = 1;
  end P1;
  package P2
    extends P1(k = 5);
  end P2;
  model UsesPackage
    replaceable package P = P1 constrainedby P1;
    Real y = P.k*time;
  end UsesPackage;
  model Package
    UsesPackage t(redeclare package P = P1(k = 2));
    UsesPackage u(redeclare package P = P2);
    UsesPackage v(redeclare package P = P2(k = 7));
  end Package;

  partial function PF
    input Real u;
    output Real y;
  end PF;
  function Times
    extends PF;
    input Real factor = 3;
  algorithm
    y := factor*u;
  end Times;
  model UsesFunction
    replaceable function f = Times constrainedby PF;
    Real y = f(time);
  end UsesFunction;
  model Function
    UsesFunction t;
    UsesFunction u(redeclare function f = Times(factor = 10));
  end Function;

  model UsesType
    replaceable type T = Real(start = 2);
    T x(fixed = true);
  equation
    der(x) = 0;
  end UsesType;
  model Types
    UsesType t;
    UsesType u(redeclare type T = Real(start = 3));
  end Types;

  model ConstrainedBinding
    model H
      parameter Real p = 25;
      replaceable model M = A constrainedby A(k = p);
      M m;
    end H;
    H u(redeclare model M = B);
  end ConstrainedBinding;
  model Arrays
    model H
      replaceable X a[2](x = {1, 2});
    end H;
    H u(redeclare XY a[2](each y = 9));
  end Arrays;

  model WithClass
    model B
      parameter Real k = 1;
      Real y = k*time;
    end B;
    B b;
  end WithClass;
  model ClassModification
    extends WithClass(B(k = 3));
    WithClass a(B(k = 5));
    WithClass c;
  end ClassModification;
  model Holder
    WithClass a;
  end Holder;
  model Holder8
    WithClass a(B(k = 8));
  end Holder8;
  model ClassModificationDeep
    Holder h(a(B(k = 6)));
    Holder i;
    Holder8 j;
  end ClassModificationDeep;
  model ClassModificationByParameter
    parameter Real p = 12;
    WithClass a(B(k = p));
  end ClassModificationByParameter;
  model ClassModificationArray
    WithClass a[2](each B(k = 4));
    extends WithClasses(B(k = 2));
  end ClassModificationArray;
  model WithClasses
    model B
      parameter Real k = 1;
      Real y = k*time;
    end B;
    B b[3];
  end WithClasses;
  model ClassModificationOverwritten
    WithClass a(B(k = 5), b(k = 9));
  end ClassModificationOverwritten;
  model ClassModificationBase
    model Derived
      extends WithClass;
    end Derived;
    Derived a(B(k = 5));
  end ClassModificationBase;
  model ClassModificationType
    model W
      type T = Real(start = 2);
      T x(fixed = true);
    equation
      der(x) = 0;
    end W;
    W a(T(start = 7));
  end ClassModificationType;
  model ClassModificationPackage
    model W
      package P = P1;
      Real y = P.k*time;
    end W;
    W a(P(k = 30));
  end ClassModificationPackage;
  model ClassModificationThroughTwo
    model W
      extends WithClass;
      B c;
    end W;
    W a(B(k = 5));
  end ClassModificationThroughTwo;

  model S
    U u(b(k = 5));
  end S;
  model NestedRedeclare
    S s(u(redeclare B b));
  end NestedRedeclare;
  model RedeclareInArray
    U u[2](redeclare B b);
  end RedeclareInArray;

  model DoesNotFit
    C2 c(redeclare X a);
  end DoesNotFit;
  model DoesNotFitNewConstraint
    model D
      replaceable X a;
    end D;
    model E
      extends D(redeclare replaceable XYZ a constrainedby XY);
    end E;
    E e(redeclare X a);
  end DoesNotFitNewConstraint;
  model FinalInConstraint
    replaceable A a(k = 4) constrainedby A(final k = 2);
  end FinalInConstraint;
  model UnknownInConstraint
    replaceable A a constrainedby A(nothing = 2);
  end UnknownInConstraint;
  model UnknownInClass
    WithClass a(B(nothing = 2));
  end UnknownInClass;
end Redeclaration;
