// The bodies of functions are checked, also where no call leads through them.

// model DeadBranches
// error E0301 differ in type
// error E0201 `undefined` is not known in
// error E0201 the function `nowhere` is not known here
model DeadBranches
  function f
    input Real x;
    output Real y;
  algorithm
    y := if x < 0 then "a" else x;
    if x < 0 then
      y := undefined;
    end if;
    if x < 0 then
      y := nowhere(x);
    end if;
  end f;
  Real y = f(1);
end DeadBranches;

// model LoopsWithoutTurns
// error E0301 String is assigned to a variable of Real
// error E0212 has no input `b`
model LoopsWithoutTurns
  function g
    input Real a;
    output Real y = a;
  end g;
  function f
    input Integer n;
    output Real y;
  algorithm
    y := 0;
    for i in 1:n loop
      y := "text";
    end for;
    while n > 3 loop
      y := g(b = 2);
    end while;
  end f;
  Real y = f(0);
end LoopsWithoutTurns;

// model PureCallsImpure
// error E0311 `PureCallsImpure.g` is pure and cannot call `PureCallsImpure.f`, which is impure
model PureCallsImpure
  impure function f
    input Real x;
    output Real y;
  algorithm
    y := x;
  end f;
  pure function g
    input Real x;
    output Real y;
  algorithm
    y := f(x);
  end g;
  Real y = g(time);
end PureCallsImpure;

// model PureDeclaration
// error E0311 is pure and cannot call
model PureDeclaration
  impure function f
    output Real y;
  algorithm
    y := 1;
  end f;
  pure function g
    input Real x;
    output Real y;
  protected
    Real z = f();
  algorithm
    y := x + z;
  end g;
  Real y = g(time);
end PureDeclaration;

// model ComplexNumbers
// nothing
model ComplexNumbers
  operator record C
    Real re;
    Real im;
    encapsulated operator '+' function add import ComplexNumbers.C; input C a; input C b; output C c; algorithm c := C(a.re + b.re, a.im + b.im); end add; end '+';
    encapsulated operator '/' function divide import ComplexNumbers.C; input C a; input C b; output C c; algorithm c := C(a.re/b.re, a.im); end divide; end '/';
    encapsulated operator 'constructor' function fromReal import ComplexNumbers.C; input Real re; input Real im = 0; output C c(re = re, im = im); algorithm end fromReal; end 'constructor';
  end C;
  function f
    input C a;
    output C c;
  algorithm
    c := (a + a)/2;
    c := f((a + a)/(a + 1));
  end f;
  function g
    input Real x;
    output Real y;
  protected
    C c;
  algorithm
    y := x;
    if x > 5 then
      c := f(C(x, 1));
      y := c.re;
    end if;
  end g;
  parameter Real y = g(1);
end ComplexNumbers;

// model Messages
// nothing
model Messages
  impure function tell
    input String text;
  algorithm
    assert(true, text);
  end tell;
  pure function g
    input Real x;
    output Real y;
  algorithm
    y := x;
    tell("x is " + String(x));
  end g;
  parameter Real y = g(1);
end Messages;

// model MayCallImpure
// nothing
model MayCallImpure
  impure function f
    input Real x;
    output Real y;
  algorithm
    y := x;
  end f;
  impure function g
    input Real x;
    output Real y;
  algorithm
    y := f(x);
  end g;
  pure function h
    input Real x;
    output Real y;
  algorithm
    y := pure(f(x)) + pure(g(x));
  end h;
  Real y = h(time);
end MayCallImpure;

// model ArgumentNames
// error E0301 `ArgumentNames.k` has an input `z` where `h` needs `x`
model ArgumentNames
  partial function F
    input Real x;
    output Real y;
  end F;
  function k
    input Real z;
    output Real y;
  algorithm
    y := z;
  end k;
  function g
    input F h;
    output Real y;
  algorithm
    y := h(1);
  end g;
  Real y = g(k);
end ArgumentNames;

// model ArgumentMissing
// error E0301 `ArgumentMissing.k` has no input `x2`, which `h` needs
model ArgumentMissing
  partial function F
    input Real x;
    input Real x2;
    output Real y;
  end F;
  function k
    input Real x;
    output Real y;
  algorithm
    y := x;
  end k;
  function g
    input F h;
    output Real y;
  algorithm
    y := h(1, 2);
  end g;
  Real y = g(k);
end ArgumentMissing;

// model ArgumentsBound
// nothing
model ArgumentsBound
  partial function F
    input Real x;
    output Real y;
  end F;
  function k
    input Real a;
    input Real x;
    input Real b = 2;
    output Real y;
  algorithm
    y := a*x*b;
  end k;
  function g
    input F h;
    output Real y;
  algorithm
    y := h(1);
  end g;
  Real y = g(function k(a = time));
end ArgumentsBound;

// model Sizes
// nothing
model Sizes
  record R
    Real a[3];
  end R;
  function f
    input Real x[:];
    input R r;
    output Real y;
  protected
    Integer n = size(x, 1);
    Real m[n, n] = identity(n);
  algorithm
    y := 0;
    for i in 1:n loop
      for j in i:n loop
        y := y + m[i, j]*x[j]*r.a[1];
      end for;
    end for;
    if n > 5 then
      y := x[6];
    end if;
    y := y + sum(x[k] for k in 1:n) + x[end] + max({x[1], y});
    assert(n > 0, "no elements: " + String(n));
  end f;
  Real y = f({time, 2}, R({1, 2, 3}));
end Sizes;
