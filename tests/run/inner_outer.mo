// Outer components, functions, models, packages and types stand for the inner ones around an instance
// (Language Specification 3.6, 5.4).
//
// model InnerOuter.Functions
// final e.d.y 1
// final f.d.y 2
// model InnerOuter.FunctionsByInheritance
// final e.d.y 3
// model InnerOuter.FunctionTwoLevels
// final g.h.d.y 2
// model InnerOuter.FunctionInEquation
// final e.d.x 2
// model InnerOuter.NearestInner
// final e.f.d.y 2
// final e.d.y 1
// model InnerOuter.Packages
// final a.y 2
// final b.y 3
// model InnerOuter.PackageFunction
// final a.y 6
// model InnerOuter.Models
// final a.m.y 20
// final b.a.m.y 30
// model InnerOuter.ModelArray
// final a.m[2].y 20
// model InnerOuter.Types
// final a.x 7
// model InnerOuter.TypeSize
// final a.total 6
// model InnerOuter.NestedClass
// final a.n.y 2
// model InnerOuter.Redeclared
// final d.y 2
// model InnerOuter.ModifiedInner
// final a.y 9
// model InnerOuter.OuterInShortClass
// final e.d.y 1
// model InnerOuter.OuterInPackage
// final b.a.t 10
// model InnerOuter.Both
// final system.sub.x 1
// final system.sub.leaf.x 3
// final system.leaf.x 1
// model InnerOuter.ArrayOfUsers
// final d[1].y 2
// final d[2].y 2
// model InnerOuter.OuterInRedeclared
// final h.d.y 2
// model InnerOuter.InnerByModifier
// final s.u.y 8
// model InnerOuter.InnerInBase
// final u.y 4
// model InnerOuter.Alone
// final d.y 1
// model InnerOuter.NoInner
// refused E0209 no inner class
// model InnerOuter.WrongKind
// refused E0219 does not fit
// model InnerOuter.SizeDiffers
// refused E0209 does not fit
// model InnerOuter.MoreThanOuter
// refused E0201 no element
package InnerOuter
  partial function PF
    input Real u;
    output Real y;
  end PF;
  function F1
    extends PF;
  algorithm
    y := u;
  end F1;
  function F2
    extends PF;
  algorithm
    y := 2*u;
  end F2;
  model D
    outer function f = PF;
    Real y = f(time);
  end D;
  model E
    inner function f = F1;
    D d;
  end E;
  model F
    inner function f = F2;
    D d;
  end F;
  model Functions
    E e;
    F f;
  end Functions;
  model FunctionsByInheritance
    model Derived
      extends D;
    end Derived;
    model Around
      inner function f
        extends PF;
      algorithm
        y := 3*u;
      end f;
      Derived d;
    end Around;
    Around e;
  end FunctionsByInheritance;
  model FunctionTwoLevels
    model H
      D d;
    end H;
    model G
      inner function f = F2;
      H h;
    end G;
    G g;
  end FunctionTwoLevels;
  model FunctionInEquation
    model D
      outer function f = PF;
      Real x(start = 0, fixed = true);
    equation
      der(x) = f(1);
    end D;
    model E
      inner function f = F2;
      D d;
    end E;
    E e;
  end FunctionInEquation;
  model NearestInner
    Around e;
    model Around
      inner function f1 = F1;
      F f;
      D1 d;
      model D1
        outer function f1 = PF;
        Real y = f1(time);
      end D1;
    end Around;
  end NearestInner;

  package P1
    constant Real k = 1;
    function g
      input Real u;
      output Real y = 3*u;
    algorithm
    end g;
  end P1;
  package P2
    extends P1(k = 2);
  end P2;
  model UsesPackage
    outer package P = P1;
    Real y = P.k*time;
  end UsesPackage;
  model Packages
    model Around3
      inner package P = P1(k = 3);
      UsesPackage a;
      Real y = a.y;
    end Around3;
    inner package P = P2;
    UsesPackage a;
    Around3 b;
  end Packages;
  model PackageFunction
    model W
      outer package P = P1;
      Real y = P.g(P.k*time);
    end W;
    inner package P = P2;
    W a;
  end PackageFunction;

  partial model PM
    Real y;
  end PM;
  model M20
    Real y = 20*time;
  end M20;
  model M30
    Real y = 30*time;
  end M30;
  model UsesModel
    outer model M = PM;
    M m;
  end UsesModel;
  model Models
    model Around
      inner model M = M30;
      UsesModel a;
    end Around;
    inner model M = M20;
    UsesModel a;
    Around b;
  end Models;
  model ModelArray
    model W
      outer model M = PM;
      M m[2];
    end W;
    inner model M = M20;
    W a;
  end ModelArray;
  model Types
    model W
      outer type T = Real;
      T x(fixed = true);
    equation
      der(x) = 0;
    end W;
    inner type T = Real(start = 7);
    W a;
  end Types;
  model TypeSize
    model W
      outer package P = Sizes;
      Real v[P.n] = 1:P.n;
      Real total = sum(v);
    end W;
    inner package P = Sizes(n = 3);
    W a;
  end TypeSize;
  package Sizes
    constant Integer n = 1;
  end Sizes;
  model NestedClass
    model W
      outer function f = PF;
      model N
        Real y = f(time);
      end N;
      N n;
    end W;
    inner function f = F2;
    W a;
  end NestedClass;
  model Redeclared
    model Base
      inner replaceable function f = F1 constrainedby PF;
      D d;
    end Base;
    extends Base(redeclare function f = F2);
  end Redeclared;
  model ModifiedInner
    model Around
      inner package P = P1;
      UsesPackage u;
      Real y = u.y;
    end Around;
    Around a(P(k = 9));
  end ModifiedInner;
  model OuterInShortClass
    model Short = D;
    model Around
      inner function f = F1;
      Short d;
    end Around;
    Around e;
  end OuterInShortClass;
  model OuterInPackage
    model A
      package P
        outer constant Real t0;
      end P;
      Real t = P.t0*time;
    end A;
    model B
      inner constant Real t0 = 10;
      A a;
    end B;
    B b;
  end OuterInPackage;
  model Both
    model Leaf
      outer Real level;
      Real x = level;
    end Leaf;
    model Sub
      inner outer Real level = level + 2;
      Real x = level;
      Leaf leaf;
    end Sub;
    model System
      inner Real level = time;
      Sub sub;
      Leaf leaf;
    end System;
    System system;
  end Both;
  model ArrayOfUsers
    inner function f = F2;
    D d[2];
  end ArrayOfUsers;
  model OuterInRedeclared
    model Holder
      replaceable PM2 d;
    end Holder;
    model PM2
      Real y = 0;
    end PM2;
    inner function f = F2;
    Holder h(redeclare D d);
  end OuterInRedeclared;
  model InnerByModifier
    model User
      outer parameter Real p;
      Real y = p*time;
    end User;
    model S
      inner parameter Real p = 1;
      User u;
    end S;
    S s(p = 8);
  end InnerByModifier;
  model InnerInBase
    model User
      outer Real q;
      Real y = q;
    end User;
    model Base
      inner Real q = 4*time;
    end Base;
    extends Base;
    User u;
  end InnerInBase;
  model Alone
    model W
      outer function f = F1;
      Real y = f(time);
    end W;
    W d;
  end Alone;
  model NoInner
    D d;
  end NoInner;
  model WrongKind
    model W
      outer model M = PM;
      M m;
    end W;
    model Other
      Real z = time;
    end Other;
    inner model M = Other;
    W a;
  end WrongKind;
  model SizeDiffers
    model W
      outer Real p[6];
      Real x = p[5];
    end W;
    inner Real p[10] = 1:10;
    W a;
  end SizeDiffers;
  model MoreThanOuter
    record R
      Real i;
    end R;
    record S
      extends R;
      Real a;
    end S;
    model W
      outer R r;
      Real x = r.a;
    end W;
    inner S r(i = 1, a = 2);
    W w;
  end MoreThanOuter;
end InnerOuter;
