// What functions can do: arguments, records, arrays, recursion, annotations, conversions.
//
package FunctionFeatures
  record P Real x; Real y; end P;
  operator record C
    Real re; Real im;
    encapsulated operator '+' function add import FunctionFeatures.C; input C a; input C b; output C c; algorithm c := C(a.re + b.re, a.im + b.im); end add; end '+';
    encapsulated operator '*' function mul import FunctionFeatures.C; input C a; input C b; output C c; algorithm c := C(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re); end mul; end '*';
    encapsulated operator 'constructor' function fromReal import FunctionFeatures.C; input Real re; input Real im = 0; output C c(re = re, im = im); algorithm end fromReal; end 'constructor';
  end C;
// model FunctionFeatures.M1
// final x 3
// final y 4
  model M1 "named out of order, multiple outputs skipped"
    function f input Real a; input Real b = a + 1; output Real x; output Real y; output Real z; algorithm x := a; y := b; z := a + b; end f;
    Real x, y;
  equation
    (, y) = f(b = 4, a = 9);
    (, , x) = f(time);
  end M1;
// model FunctionFeatures.M2
// final y 24
  model M2 "recursion"
    function fac input Integer n; output Integer f; algorithm if n <= 1 then f := 1; else f := n*fac(n - 1); end if; end fac;
    Integer n = integer(4*time);
    Real y = fac(n);
  end M2;
// model FunctionFeatures.M3
// final y 14
// final z 32
  model M3 "protected arrays of variable size"
    function f input Real v[:]; output Real y; protected Integer n = size(v, 1); Real w[n] = 2*v; Real m[n, n]; algorithm m := identity(n); w := m*w; y := v*v; end f;
    function g input Real v[:]; input Real w[size(v, 1)]; output Real y; protected Real s[:] = v .* w; algorithm y := sum(s); end g;
    Real y = f({1, 2, 3*time});
    Real z = g({1, 2, 3*time}, {4, 5, 6});
  end M3;
// model FunctionFeatures.M4
// final y[1] 7
// final y[2] 10
// final y[3] 15
// final y[4] 22
  model M4 "matrix powers and products in functions"
    function f input Real a[:, size(a, 1)]; output Real b[size(a, 1), size(a, 1)]; protected Real c[size(a, 1), size(a, 1)]; algorithm c := a*a; b := c; end f;
    Real m[2, 2] = f([1, 2; 3, 4*time]);
    Real y[4] = {m[1, 1], m[1, 2], m[2, 1], m[2, 2]};
  end M4;
// model FunctionFeatures.M5
// final p.x 3
// final p.y 6
// final q.x 5
  model M5 "records in and out"
    function f input P p; input Real k; output P q; algorithm q.x := k*p.x; q.y := k*p.y; end f;
    function g input P p; output P q; protected P h; algorithm h := p; h.x := h.x + 4; q := h; end g;
    P p = f(P(time, 2), 3);
    P q = g(P(time, 2));
  end M5;
// model FunctionFeatures.M6
// final y[1] 1
// final y[2] 4
// final y[3] 9
// final z[2,2] 36
  model M6 "vectorised calls"
    function sq input Real x; output Real y; protected Real t; algorithm t := x; y := t*x; end sq;
    Real y[3] = sq({1, 2, 3*time});
    Real z[2, 2] = sq([1, 2; 3, 6*time]);
  end M6;
// model FunctionFeatures.M7
// final y[1] 11
// final y[2] 13
  model M7 "vectorised over two arguments, third scalar"
    function f input Real a; input Real b; input Real c; output Real y; algorithm y := a + b + c; end f;
    Real y[2] = f({1, 2}, {9, 10}, time);
  end M7;
// model FunctionFeatures.M8
// final a 2.5
// final b 2
// final c -3
// final d 3.5
  model M8 "Integer to Real conversions"
    function f input Real x; output Real y; algorithm y := x/2; end f;
    function g input Integer n; output Real y; protected Integer m; algorithm m := n; y := m; end g;
    Integer n = integer(5*time);
    Real a = f(n);
    Real b = g(n - 3);
    Real c = integer(-2.5*time);
    Real d = 7/2*time;
  end M8;
// model FunctionFeatures.M9
// final a 1
// final b 2
// final c -1
// final d 1
// final e -2
// final f -3
// final g 2
  model M9 "div mod rem signs"
    Integer k = integer(7*time);
    Integer a = rem(k, 3);
    Integer b = mod(-k, 3);
    Integer c = rem(-k, 3);
    Integer d = mod(k, 3);
    Integer e = div(-k, 3);
    Integer f = integer(-k/3);
    Integer g = div(k, 3);
  end M9;
// model FunctionFeatures.M10
// final s 30
// final p 24
// final m 1
// final n 16
// final a[3] 9
  model M10 "reductions and comprehensions"
    function f input Integer n; output Real s; output Real p; output Real m; output Real x; algorithm
      s := sum(i^2 for i in 1:n); p := product(i for i in 1:n); m := min(i^2 for i in 1:n); x := max(i^2 for i in 1:n); end f;
    Real s, p, m, n; Real a[3] = {i^2*time for i in 1:3};
  equation
    (s, p, m, n) = f(4);
  end M10;
// model FunctionFeatures.M11
// final y 1.5
  model M11 "derivative annotation"
    function f input Real x; output Real y; algorithm y := x^2; y := y + 0; annotation(derivative = df); end f;
    function df input Real x; input Real dx; output Real dy; algorithm dy := 1.5*dx; end df;
    Real z = f(time);
    Real y = der(z);
  end M11;
// model FunctionFeatures.M12
// final x 2
  model M12 "inverse annotation"
    function f input Real x; output Real y; algorithm y := x^3; y := y + 1; annotation(inverse(x = g(y))); end f;
    function g input Real y; output Real x; algorithm x := (y - 1)^(1/3); end g;
    Real x(start = 1);
  equation
    9*time + (1 - time)*2 = f(x);
  end M12;
// model FunctionFeatures.M13
// final c.re -3
// final c.im 4
// final d.re 3
  model M13 "operator records"
    C a = C(1, 2*time);
    C c = a*a;
    C d = a + C(2);
  end M13;
// model FunctionFeatures.M14
// final y 6
  model M14 "functions as arguments"
    partial function F input Real x; output Real y; end F;
    function apply input F f; input Real x; output Real y; algorithm y := f(x) + f(2*x); end apply;
    function two extends F; algorithm y := 2*x; end two;
    Real y = apply(function two(), time);
  end M14;
// model FunctionFeatures.M15
// final y 11
  model M15 "functions as arguments with bound inputs"
    partial function F input Real x; output Real y; end F;
    function apply input F f; input Real x; output Real y; protected Real t; algorithm t := f(x); y := t + 1; end apply;
    function lin input Real x; input Real k; output Real y; algorithm y := k*x; end lin;
    Real y = apply(function lin(k = 10), time);
  end M15;
// model FunctionFeatures.M16
// final y 5
// final z 8
  model M16 "extends functions"
    partial function base input Real x; output Real y; protected Real k = 2; end base;
    function f extends base; algorithm y := k*x + 3; end f;
    function g = h(k = 7);
    function h input Real x; input Real k = 1; output Real y; algorithm y := x + k; end h;
    Real y = f(time);
    Real z = g(time);
  end M16;
// model FunctionFeatures.M17
// final n 5
// final m 5
  model M17 "algorithm pre semantics"
    Integer n(start = 0, fixed = true);
    Integer m(start = 0, fixed = true);
  algorithm
    when sample(0.1, 0.2) then n := pre(n) + 1; end when;
    m := n;
  end M17;
// model FunctionFeatures.M18
// final x 1
// final y 2
  model M18 "while with return"
    function first input Real v[:]; input Real limit; output Integer k; algorithm k := 0; for i in 1:size(v, 1) loop if v[i] > limit then k := i; return; end if; end for; end first;
    Real x = first({3, 1, 2}, 2*time);
    Real y = first({1, 3, 2*time}, 2.5);
  end M18;
// model FunctionFeatures.M19
// final y 3
  model M19 "nested break"
    function f input Integer n; output Integer c; algorithm c := 0; for i in 1:n loop for j in 1:n loop if j > i then break; end if; if i == 3 then break; end if; c := c + 1; end for; end for; end f;
    Integer n = integer(3*time);
    Real y = f(n);
  end M19;
// model FunctionFeatures.M20
// final y 0.5
// final z 7
  model M20 "if expressions with arrays, min max of arrays"
    function f input Real a[:]; input Boolean b; output Real y; algorithm y := max(if b then a else -a) - min(a); end f;
    Real y = f({1, 1.5*time}, true);
    Real z = max({1, 7*time, 3});
  end M20;
// model FunctionFeatures.M21
// final y[1] 3
// final y[2] 2
// final y[3] 1
  model M21 "ranges as subscripts"
    function rev input Real a[:]; output Real b[size(a, 1)]; algorithm b := a[end:-1:1]; end rev;
    Real y[3] = rev({1, 2, 3*time});
  end M21;
// model FunctionFeatures.M22
// final y 21
  model M22 "slices assigned"
    function f input Real u; output Real m[2, 3]; algorithm m[1, :] := {1, 2, 3}; m[2, :] := {4, 5, 6*u}; end f;
    Real m[2, 3] = f(time);
    Real y = sum(m);
  end M22;
// model FunctionFeatures.M23
// final y 12
  model M23 "columns assigned in a loop"
    function f input Integer n; input Real u; output Real m[2, n]; algorithm for j in 1:n loop m[:, j] := {j, u*j}; end for; end f;
    Real m[2, 3] = f(3, time);
    Real y = sum(m);
  end M23;
// model FunctionFeatures.M24
// final y 10
  model M24 "cat, fill, zeros, linspace"
    function f input Real u; output Real y; protected Real a[:] = cat(1, {u, 2}, fill(3.0, 1), linspace(0, 4, 2)); algorithm y := sum(a); end f;
    Real y = f(time);
  end M24;
// model FunctionFeatures.M25
// final y 32
// final c[1] -3
// final c[2] 6
// final c[3] -3
  model M25 "cross, products"
    function f input Real a[3]; input Real b[3]; output Real c[3]; output Real y; algorithm c := cross(a, b); y := a*b; end f;
    Real y, c[3];
  equation
    (c, y) = f({1, 2, 3*time}, {4, 5, 6});
  end M25;
// model FunctionFeatures.M26
// final y 2
// final z 1
  model M26 "Boolean results and arguments"
    function both input Boolean a; input Boolean b; output Boolean c; protected Boolean d; algorithm d := a and b; c := d or not a; end both;
    Boolean b = both(time > 0.5, time > 2);
    Boolean c = both(time > 2, false);
    Real y = if b then 1 else 2;
    Real z = if c then 1 else 2;
  end M26;
// model FunctionFeatures.M27
// final x 0.5
  model M27 "Boolean function as a when condition"
    function over input Integer n; output Boolean b; protected Integer m; algorithm m := n; b := m >= 2; end over;
    Integer n = integer(4*time);
    discrete Real x(start = 0, fixed = true);
  equation
    when over(n) then x = time; end when;
  end M27;
// model FunctionFeatures.M28
// final y 3
  model M28 "constants from packages in functions"
    package K constant Real a[3] = {1, 2, 3}; constant Integer n = 2; end K;
    function f input Real u; output Real y; algorithm y := u*K.a[K.n] + K.a[1]; end f;
    Real y = f(time);
  end M28;
// model FunctionFeatures.M29
// final y 10
  model M29 "sum of records field, dot product of slices"
    function f input P p[:]; output Real y; algorithm y := sum(p.x)*2 + p[1].y*p[2].y; end f;
    Real y = f({P(1, 2), P(2*time, 2)});
  end M29;
// model FunctionFeatures.M30
// final x 1.618033988
  model M30 "iteration to convergence"
    function root input Real a; output Real x; protected Real old; algorithm x := a; old := a + 1; while abs(x - old) > 1e-12 loop old := x; x := sqrt(1 + x); end while; end root;
    Real x = root(time + 1);
  end M30;
// model FunctionFeatures.M31
// final v 6
  model M31 "a loop that is differentiated"
    function pow3 input Real x; output Real y; algorithm y := 1; for i in 1:3 loop y := y*x; end for; end pow3;
    Real x = 1 + 0*time;
    Real z = pow3(2*time - 1 + 0*x);
    Real v = der(z);
  end M31;
// model FunctionFeatures.M32
// final e 2
// final n 2
// final y 20
  model M32 "enumerations in tables, loops over enumerations"
    type E = enumeration(a, b, c);
    function f input E e; output Integer n; output Real s; protected Real t[E]; algorithm s := 0; for k in E loop t[k] := 10*Integer(k); end for; n := Integer(e); s := t[e]; end f;
    E e = if time > 0.5 then E.b else E.a;
    Integer n; Real y;
  equation
    (n, y) = f(e);
  end M32;
// model FunctionFeatures.M33
// final y 3
  model M33 "a function with several algorithm-free defaults only"
    function f input Real x; output Real y = x + 2; end f;
    Real y = f(time);
  end M33;
// model FunctionFeatures.M34
// final y 9
  model M34 "local constants and parameters of functions"
    function f input Real x; output Real y; protected constant Real k = 4; parameter Real m = 2*k; algorithm y := m + x; end f;
    Real y = f(time);
  end M34;
// model FunctionFeatures.M35
// final y 1
  model M35 "assert inside with known arguments is checked"
    function f input Real x; output Real y; algorithm assert(x > 0, "x"); y := x; end f;
    parameter Real p = f(1);
    Real y = p*time;
  end M35;
// model FunctionFeatures.M36
// refused E0308 must be positive, is -1
  model M36
    function f input Real x; output Real y; algorithm assert(x > 0, "must be positive, is " + String(x)); y := x; end f;
    constant Real p = f(-1);
    Real y = p*time;
  end M36;
// model FunctionFeatures.M37
// final y 4
  model M37 "size checks by sizes of others"
    function f input Real a[:, :]; input Real b[size(a, 2)]; output Real c[size(a, 1)]; algorithm c := a*b; end f;
    Real c[1] = f([1, 3*time], {1, 1});
    Real y = c[1];
  end M37;
// model FunctionFeatures.M38
// final y 6
  model M38 "polynomial by Horner with varying coefficients"
    function horner input Real c[:]; input Real x; output Real y; algorithm y := 0; for i in size(c, 1):-1:1 loop y := y*x + c[i]; end for; end horner;
    Real y = horner({1, 2, 3*time}, time);
  end M38;
// model FunctionFeatures.M39
// final y 55
  model M39 "fibonacci with array"
    function fib input Integer n; output Integer y; protected Integer a[20]; algorithm a[1] := 1; a[2] := 1; for i in 3:n loop a[i] := a[i - 1] + a[i - 2]; end for; y := a[n]; end fib;
    Integer n = integer(10*time) ;
    Real y = fib(max(n, 2));
  end M39;
// model FunctionFeatures.M40
// final y 2
  model M40 "sort"
    function median input Real a[:]; output Real m; protected Real b[size(a, 1)] = a; Real t; algorithm for i in 1:size(a, 1) loop for j in 1:size(a, 1) - i loop if b[j] > b[j + 1] then t := b[j]; b[j] := b[j + 1]; b[j + 1] := t; end if; end for; end for; m := b[div(size(a, 1) + 1, 2)]; end median;
    Real y = median({3*time, 1, 2});
  end M40;
// model FunctionFeatures.M41
// fails E0608
  model M41 "division by zero of Integers"
    Integer n = 1 - integer(2*time);
    Real y = 1/n;
  end M41;
// model FunctionFeatures.M42
// fails E0608
  model M42 "square root of a negative number in a function"
    function f input Real x; output Real y; protected Real z; algorithm z := sqrt(x); y := z; end f;
    Real y = f(0.5 - time);
  end M42;
// model FunctionFeatures.M43
// final y 0
  model M43 "guarded square root"
    function f input Real x; output Real y; algorithm y := if x > 0 then sqrt(x) else 0; end f;
    Real y = f(0.5 - time);
  end M43;
// model FunctionFeatures.M44
// fails E0608
  model M44 "log of zero in Integer context"
    function f input Integer n; output Real y; protected Real z; algorithm z := log(n); y := z; end f;
    Real y = f(2 - integer(3*time));
  end M44;
// model FunctionFeatures.M45
// final i 2
// final y 4
  model M45 "initial algorithm"
    Integer i(start = 0);
    Real y(start = 0);
  initial algorithm
    y := 1;
    for k in 1:2 loop y := 2*y; end for;
  initial equation
    pre(i) = 2;
  equation
    der(y) = 0;
    when time > 3 then i = 5; end when;
  end M45;
// model FunctionFeatures.M46
// final a 1
// final b 2
// final c 3
  model M46 "elsewhen in algorithms"
    Integer a(start = 0, fixed = true), b(start = 0, fixed = true), c(start = 0, fixed = true);
  algorithm
    when time > 0.2 then a := a + 1; c := c + 1; elsewhen time > 0.1 then b := b + 2; c := c + 2; end when;
  end M46;
// model FunctionFeatures.M47
// final x 4
  model M47 "reinit in a when of an algorithm is refused or acts"
    Real x(start = 1, fixed = true);
  equation
    der(x) = 0;
    when time > 0.5 then reinit(x, 4); end when;
  end M47;
// model FunctionFeatures.M48
// final y 8
  model M48 "String length and parts"
    function len input String s; output Integer n; external "C" n = ModelicaStrings_length(s); end len;
    function part input String s; input Integer a; input Integer b; output String t; external "C" t = ModelicaStrings_substring(s, a, b); end part;
    String s = if time < 0.5 then "abc" else "abcdefgh";
    Integer y = len(s);
  end M48;
// model FunctionFeatures.M49
// fails E0608 the characters 2 to 9 of a text of length 8
  model M49
    function part input String s; input Integer a; input Integer b; output String t; external "C" t = ModelicaStrings_substring(s, a, b); end part;
    String s = if time < 0.5 then "abcdefghij" else "abcdefgh";
    String t = part(s, 2, 9);
    Boolean b = t == "bcdefghi";
  end M49;
// model FunctionFeatures.M50
// final y 1
  model M50 "comparison of parts"
    function part input String s; input Integer a; input Integer b; output String t; external "C" t = ModelicaStrings_substring(s, a, b); end part;
    Integer k = integer(2*time) + 1;
    Boolean b = part("xayb", k, k) == "y";
    Real y = if b then 1 else 0;
  end M50;
// model FunctionFeatures.M51
// final y 600003
// final z 1200003
  model M51 "a call whose record is handed on by its components is carried out once"
    record Many Real a; Real b; Real c; Real d; Real e; Real f; end Many;
    function slow input Real x; output Many m; protected Real s = 0; algorithm for i in 1:200000 loop s := s + x; end for; m := Many(s, s, s, 1, 1, 1); end slow;
    function sum6 input Many m; output Real y; algorithm y := m.a + m.b + m.c + m.d + m.e + m.f; end sum6;
    function once input Real x; output Real y; algorithm y := sum6(slow(x)); end once;
    function chosen input Real x; output Real y; algorithm y := if x > 5 then sum6(slow(x)) else sum6(slow(2*x)); end chosen;
    Real y = once(if time < 0.5 then 0.5 else 1);
    Real z = chosen(if time < 0.5 then 0.5 else 1);
  end M51;
end FunctionFeatures;
