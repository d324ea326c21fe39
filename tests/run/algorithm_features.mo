// Records, loops, messages and semiLinear in various combinations.
//
package AlgorithmFeatures
// model AlgorithmFeatures.A1
// refused E0506 may change at any time
  model A1 "an Integer that follows a continuous value"
    record R Real v[2]; Integer n; end R;
    function f input Real u; output R r[2]; algorithm for i in 1:2 loop r[i].v := {u, i*u}; r[i].n := i; end for; if u > 0.5 then r[2].v[1] := 9; end if; end f;
    R r[2] = f(time);
    Real y = r[2].v[2];
  end A1;
// model AlgorithmFeatures.A2
// final y 9
  model A2 "if statement in a function with arrays of records"
    record R Real v[2]; Real n; end R;
    function f input Real u; output R r[2]; algorithm for i in 1:2 loop r[i].v := {u, i*u}; r[i].n := i; end for; if u > 0.5 then r[2].v[1] := 9; end if; end f;
    R r[2] = f(time);
    Real y = r[2].v[1];
  end A2;
// model AlgorithmFeatures.A32
// refused E0506 may change at any time
  model A32 "a loop that counts what changes continuously"
    Integer n;
  algorithm
    n := 0;
    while n < 10*time loop n := n + 1; end while;
  end A32;
// model AlgorithmFeatures.A34
// final k 5
// final even 2
// final x 15
// final z 0
  model A34 "counters beside a continuous variable"
    Integer k, even;
    Real x, z;
  algorithm
    k := 0; even := 0; x := 0; z := 1;
    while k < 7 loop
      k := k + 1;
      if mod(k, 2) == 0 then even := even + 1; end if;
      x := x + k*time;
      if k >= 5 then break; end if;
    end while;
    if time > 0.5 then z := 0; end if;
  end A34;
// model AlgorithmFeatures.A35
// refused E0506 may change at any time
  model A35 "a counter that another one leaves to a continuous variable"
    Integer k, n;
    Real x;
  algorithm
    k := 0; n := 0; x := 1 + time;
    while x < 10 and k < 20 loop
      k := k + 1;
      x := x*2;
      if k < 3 then n := n + 1; end if;
    end while;
  end A35;
// model AlgorithmFeatures.A33
// refused E0506 may change at any time
  model A33 "a Boolean of a function of time"
    function f input Real x; output Boolean b; protected Real z; algorithm z := x*x; b := z > 0.25; end f;
    Boolean b = f(time);
  end A33;
// model AlgorithmFeatures.A3
// final y 5
  model A3 "records nested"
    record In Real a; end In;
    record Out In i; Real b; end Out;
    function f input Real u; output Out o; algorithm o.i.a := 2*u; o.b := 3*u; end f;
    function g input Out o; output Real y; algorithm y := o.i.a + o.b; end g;
    Real y = g(f(time));
  end A3;
// model AlgorithmFeatures.A4
// final y 6
// final z 2
  model A4 "vectorised record constructor with array field"
    record R Real v[2]; Real s; end R;
    R r[2] = R({{1, 2}, {3, 4*time}}, {5, 6});
    Real y = r[2].s;
    Real z = r[1].v[2];
  end A4;
// model AlgorithmFeatures.A5
// final y 3
  model A5 "array of records by varying index assigned in function"
    record R Real x; end R;
    function f input Integer k; output R r[3]; algorithm for i in 1:3 loop r[i].x := i; end for; end f;
    R r[3] = f(2);
    Integer k = integer(2*time) + 1;
    Real y = r[k].x*time;
  end A5;
// model AlgorithmFeatures.A6
// final n 2
// final m 4
  model A6 "algorithm: counter with edge and change"
    Boolean b = mod(integer(4*time), 2) == 1;
    Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  algorithm
    when edge(b) then n := n + 1; end when;
    when change(b) then m := m + 1; end when;
  end A6;
// model AlgorithmFeatures.A7
// stop 0.95
// final y 2
  model A7 "if in algorithm assigning discrete keeps the value"
    Integer y(start = 2, fixed = true);
  algorithm
    if time > 2 then y := 7; end if;
  end A7;
// model AlgorithmFeatures.A8
// final x 3
// final y 7
  model A8 "for over vector of values"
    Real x, y;
  algorithm
    x := 0; y := 0;
    for v in {1, 2} loop x := x + v*time; end for;
    for v in {0.5, 1.5, 5} loop y := y + v; end for;
  end A8;
// model AlgorithmFeatures.A9
// final y 4
  model A9 "while in function with varying bound and array"
    function count input Real v[:]; input Real limit; output Integer n; protected Integer i; Real s; algorithm i := 0; s := 0; n := 0; while i < size(v, 1) and s < limit loop i := i + 1; s := s + v[i]; n := n + 1; end while; end count;
    Real y = count({1, 1, 1, 1, 1}, 3.5*time);
  end A9;
// model AlgorithmFeatures.A10
// fails E0608 outside 1..5
  model A10 "and is evaluated as a whole: the subscript 6 does not exist"
    function count input Real v[:]; output Integer n; protected Integer i; algorithm i := 1; n := 0; while v[i] > 0 loop n := n + 1; i := i + 1; end while; end count;
    Real y = count({1, 1, 1, 1, 1*time + 1});
  end A10;
// model AlgorithmFeatures.A11
// final y 1
  model A11 "message of a holding assertion is not evaluated"
    Integer k = integer(5*time);
    Real a[2] = {1, 2};
    Real y = time;
  equation
    assert(time < 2, "a[k] is " + String(a[k]));
  end A11;
// model AlgorithmFeatures.A12
// fails E0609 [1.00e+00, true, b, 0003]
  model A12
    type E = enumeration(a, b);
    E e = E.b;
    Boolean t = time > 0.5;
    Integer n = integer(3*time);
  equation
    when terminal() then
      assert(false, "[" + String(time, format = ".2e") + ", " + String(t) + ", " + String(e) + ", " + String(n, format = "04d") + "]");
    end when;
  end A12;
// model AlgorithmFeatures.A13
// final y 1
  model A13 "terminate at start"
    Real y = 1;
    Real z = time;
  equation
    if initial() then
      assert(y > 0, "no");
    end if;
  end A13;
// model AlgorithmFeatures.A15
// final s 6
// final c 3
  model A15 "nested varying loops with break in the inner one"
    Integer k = integer(3*time);
    Integer s, c;
  algorithm
    s := 0; c := 0;
    for i in 1:k loop
      for j in 1:k loop
        if j > i then break; end if;
        s := s + 1;
      end for;
      c := c + 1;
    end for;
  end A15;
// model AlgorithmFeatures.A16
// final a[1] 0
// final a[2] 2
// final a[3] 4
  model A16 "array assigned in a varying loop from itself"
    Integer k = integer(2*time);
    Real a[3];
  algorithm
    a := {0, 1, 2};
    for i in 1:k - 1 loop
      a := 2*a;
    end for;
  end A16;
// model AlgorithmFeatures.A17
// final x 3
// final y 2
  model A17 "tuple assignment from a function of its own targets in a varying loop"
    function f input Real a; input Real b; output Real c; output Real d; algorithm c := a + b; d := a; end f;
    Integer k = integer(3*time);
    Real x, y;
  algorithm
    x := 1; y := 0;
    for i in 1:k loop
      (x, y) := f(x, y);
    end for;
  end A17;
// model AlgorithmFeatures.A18
// final n 8
  model A18 "discrete Real in loops"
    discrete Real n(start = 1, fixed = true);
  algorithm
    when sample(0.25, 0.25) then
      while n < 8 loop n := 2*n; end while;
    end when;
  end A18;
// model AlgorithmFeatures.A19
// final y 0.25
  model A19 "continuous result of a varying loop is differentiated"
    Integer k = if time < 5 then 2 else 3;
    Real x(start = 0.5, fixed = true);
    Real y;
  algorithm
    y := 1;
    for i in 1:k loop y := y*x; end for;
  equation
    der(x) = 0;
  end A19;
// model AlgorithmFeatures.A20
// final x 2.718281828
  model A20 "a state through a varying loop"
    Integer k = if time < 5 then 1 else 3;
    Real x(start = 1, fixed = true);
    Real y;
  algorithm
    y := 0;
    for i in 1:k loop y := y + x; end for;
  equation
    der(x) = y;
  end A20;
// model AlgorithmFeatures.A21
// refused E0304
  model A21 "an if-condition on an unknown array size"
    Integer k = integer(3*time);
    Real a[k];
  end A21;
// model AlgorithmFeatures.A22
// final y 4
  model A22 "default depends on size"
    function f input Real a[:]; input Integer n = size(a, 1); output Real y; algorithm y := n + a[n]; end f;
    Real y = f({1, 2*time});
  end A22;
// model AlgorithmFeatures.A23
// refused E0212 needs the argument `b`
  model A23
    function f input Real a; input Real b; output Real y; algorithm y := a + b; end f;
    Real y = f(time);
  end A23;
// model AlgorithmFeatures.A24
// refused E0216 is an input and cannot be assigned
  model A24
    function f input Real a; output Real y; algorithm a := 2; y := a; end f;
    Real y = f(time);
  end A24;
// model AlgorithmFeatures.A25
// refused E0301
  model A25
    function f input Integer a; output Real y; algorithm y := a; end f;
    Real y = f(time);
  end A25;
// model AlgorithmFeatures.A26
// final y 3
// final z 3
  model A26 "Integer results of min, max, abs, sign"
    Integer k = -integer(3*time);
    Integer y = abs(k);
    Integer z = max(k, -k);
  end A26;
// model AlgorithmFeatures.A27
// final x 5
  model A27 "assert with named arguments"
    Real x = 5*time;
  equation
    assert(condition = x < 10, message = "x is " + String(x), level = AssertionLevel.error);
  end A27;
// model AlgorithmFeatures.A28
// fails E0609 x is 0.8
  model A28
    Real x = time;
  equation
    assert(message = "x is " + String(x, significantDigits = 1), condition = x < 0.75);
    annotation(experiment(StopTime = 1));
  end A28;
// model AlgorithmFeatures.A29
// final y 7
  model A29 "function in a package with imports"
    package K function f input Real x; output Real y; algorithm y := g(x) + 1; end f; function g input Real x; output Real y; algorithm y := 6*x; end g; end K;
    import AlgorithmFeatures.A29.K.f;
    Real y = f(time);
  end A29;
// model AlgorithmFeatures.A30
// final s1 3
// final h2 3
  model A30 "semiLinear through connectors"
    connector Port Real p; flow Real m; flow Real q; Real h; end Port;
    model End Port c; parameter Real h0; equation c.q = semiLinear(c.m, c.h, h0); end End;
    End a(h0 = 3), b(h0 = 5);
    Real s1 = a.c.h; Real h2 = b.c.h;
  equation
    connect(a.c, b.c);
    a.c.m = time - 2;
    a.c.p = 0;
  end A30;
// model AlgorithmFeatures.A31
// final s1 5
  model A31
    extends A30T(flow_rate = 2 - time);
  end A31;
  model A30T
    connector Port Real p; flow Real m; flow Real q; Real h; end Port;
    model End Port c; parameter Real h0; equation c.q = semiLinear(c.m, c.h, h0); end End;
    End a(h0 = 3), b(h0 = 5);
    Real s1 = a.c.h;
    Real flow_rate;
  equation
    connect(a.c, b.c);
    a.c.m = flow_rate;
    a.c.p = 0;
  end A30T;
// model AlgorithmFeatures.Entangled
// final n 60
// final k 60
// final seen 55
// final twice 72
  model Entangled "when-clauses that set a variable in turn, with statements between them that read it"
    Integer n(start = 0, fixed = true), k(start = 0, fixed = true), seen(start = 0, fixed = true), twice(start = 0, fixed = true);
  algorithm
    when sample(0.095, 0.1) then
      n := pre(n) + 1;
    end when;
    when sample(0.095, 0.2) then
      seen := pre(seen) + n - pre(n);
      n := n + 10;
      seen := seen + n - pre(n) - 1;
    end when;
    k := n;
    when sample(0.095, 0.5) then
      twice := n;
      twice := 2*twice;
    end when;
  end Entangled;
end AlgorithmFeatures;
