// Functions made at random, each evaluated before the run, called during it and written as an algorithm section.
//
// model M1007.A
// stop 0.01
// final r[1] -0.75
// final d[1] -0.75
// final s[1] -0.75
// final r[2] -0.4
// final d[2] -0.4
// final s[2] -0.4
// final r[3] 0.3
// final d[3] 0.3
// final s[3] 0.3
// final r[4] -0.4
// final d[4] -0.4
// final s[4] -0.4
// final r[5] -0.4298718882214787
// final d[5] -0.4298718882214787
// final s[5] -0.4298718882214787
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x -0.75
// final y -0.4
// final a[1] 0.3
// final a[2] -0.4
// final a[3] -0.4298718882214787
// final i 1
// final j 2
package M1007
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    for k2 in 1:mod(rem((-1), 4), 4) loop
      a[mod((j + (-3)), 3) + 1] := (sin((0.5)) - sin(j));
    end for;
    x := a[mod((i - i), 3) + 1];
    for k2 in 1:3 loop
      w := 0;
      while w < 3 and x < 5 loop
        w := w + 1;
        x := (-0.75);
      end while;
    end for;
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then -1 else 0;
    parameter Real u = 0.3; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, -0.4, -1);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    for k2 in 1:mod(rem((-1), 4), 4) loop
      a[mod((j + (-3)), 3) + 1] := (sin((0.5)) - sin(j));
    end for;
    x := a[mod((i - i), 3) + 1];
    for k2 in 1:3 loop
      w := 0;
      while w < 3 and x < 5 loop
        w := w + 1;
        x := (-0.75);
      end while;
    end for;
  end A;
end M1007;
// model M1009.A
// stop 0.01
// final r[1] -1.9999999999999998
// final d[1] -1.9999999999999998
// final s[1] -1.9999999999999998
// final r[2] 1.25
// final d[2] 1.25
// final s[2] 1.25
// final r[3] 0.3
// final d[3] 0.3
// final s[3] 0.3
// final r[4] 0.7
// final d[4] 0.7
// final s[4] 0.7
// final r[5] 1.5
// final d[5] 1.5
// final s[5] 1.5
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x -1.9999999999999998
// final y 1.25
// final a[1] 0.3
// final a[2] 0.7
// final a[3] 1.5
// final i 1
// final j 2
package M1009
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    x := max(((u - v) + (if ((1.25) * y) / (1 + abs((1.25))) > (v - x) then u else y)), min((y * x) / (1 + abs(y)), a[mod(max(j, i), 3) + 1]));
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := (1.25);
    end while;
    for k2 in 1:2 loop
      y := x;
      if x > (v + x) then
        break;
      end if;
    end for;
    x := (u - (max(u, (-0.75)) + (if abs(n) < ((2.0) + y) then u else j)));
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 5 else 0;
    parameter Real u = 0.3; parameter Real v = 0.7;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, 0.7, 5);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=0.7), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    x := max(((u - v) + (if ((1.25) * y) / (1 + abs((1.25))) > (v - x) then u else y)), min((y * x) / (1 + abs(y)), a[mod(max(j, i), 3) + 1]));
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := (1.25);
    end while;
    for k2 in 1:2 loop
      y := x;
      if x > (v + x) then
        break;
      end if;
    end for;
    x := (u - (max(u, (-0.75)) + (if abs(n) < ((2.0) + y) then u else j)));
  end A;
end M1009;
// model M1034.A
// stop 0.01
// final r[1] -0.4
// final d[1] -0.4
// final s[1] -0.4
// final r[2] -8.857142857142858
// final d[2] -8.857142857142858
// final s[2] -8.857142857142858
// final r[3] -1.2
// final d[3] -1.2
// final s[3] -1.2
// final r[4] -0.4
// final d[4] -0.4
// final s[4] -0.4
// final r[5] -1.2
// final d[5] -1.2
// final s[5] -1.2
// final r[6] 2
// final d[6] 2
// final s[6] 2
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x -0.4
// final y -8.857142857142858
// final a[1] -1.2
// final a[2] -0.4
// final a[3] -1.2
// final i 2
// final j 2
package M1034
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    if ((n + i) <> (i + j) and mod(n, 5) == rem(j, 4)) then
      if (n + j) <> rem(j, 4) then
        i := mod((max((-3), i) + rem((0), 4)), 11);
        y := sqrt(abs(x));
      end if;
      for k3 in 1:mod(div(i, 3), 4) loop
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := (x - sqrt(abs(v)));
        end while;
      end for;
    else
      if ((j + (0)) <> div(i, 3) and ((-0.75) + u) < v) then
        x := (if max(j, (3.0)) > max((3.0), (0.5)) then ((y + j) - (x + v)) else ((y + v) - max(y, y)));
      else
        x := sqrt(abs(u));
      end if;
      i := mod(((n - i) - (i + j)), 11);
    end if;
    i := mod(mod((n + (-1)), 5), 11);
    for k2 in 1:mod(mod((2), 5), 4) loop
      a[mod(max(k2, n), 3) + 1] := u;
    end for;
    y := (((v * u) / (1 + abs(v)) + (if (j + (3)) > (i - j) then u else y)) - n);
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 8 else 0;
    parameter Real u = -1.2; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(-1.2, -0.4, 8);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=-1.2), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    if ((n + i) <> (i + j) and mod(n, 5) == rem(j, 4)) then
      if (n + j) <> rem(j, 4) then
        i := mod((max((-3), i) + rem((0), 4)), 11);
        y := sqrt(abs(x));
      end if;
      for k3 in 1:mod(div(i, 3), 4) loop
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := (x - sqrt(abs(v)));
        end while;
      end for;
    else
      if ((j + (0)) <> div(i, 3) and ((-0.75) + u) < v) then
        x := (if max(j, (3.0)) > max((3.0), (0.5)) then ((y + j) - (x + v)) else ((y + v) - max(y, y)));
      else
        x := sqrt(abs(u));
      end if;
      i := mod(((n - i) - (i + j)), 11);
    end if;
    i := mod(mod((n + (-1)), 5), 11);
    for k2 in 1:mod(mod((2), 5), 4) loop
      a[mod(max(k2, n), 3) + 1] := u;
    end for;
    y := (((v * u) / (1 + abs(v)) + (if (j + (3)) > (i - j) then u else y)) - n);
  end A;
end M1034;
// model M1046.A
// stop 0.01
// final r[1] 1.9000000000000001
// final d[1] 1.9000000000000001
// final s[1] 1.9000000000000001
// final r[2] 3.15
// final d[2] 3.15
// final s[2] 3.15
// final r[3] -1.2
// final d[3] -1.2
// final s[3] -1.2
// final r[4] -0.4
// final d[4] -0.4
// final s[4] -0.4
// final r[5] 0.0
// final d[5] 0.0
// final s[5] 0.0
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x 1.9000000000000001
// final y 3.15
// final a[1] -1.2
// final a[2] -0.4
// final a[3] 0.0
// final i 1
// final j 2
package M1046
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    a[mod((i + n), 3) + 1] := ((if mod(j, 5) == (i + j) then a[mod(mod((1), 5), 3) + 1] else v) + abs(v));
    y := (if div(n, 3) < (n + i) then (max(v, x) + max(y, n)) else abs(x));
    for k2 in 1:mod(max(n, i), 4) loop
      x := n;
      y := ((max((2.0), v) + (0.5)) + (((-0.75) + n) - v));
      j := mod(max((i + (-2)), rem((2), 4)), 11);
    end for;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := (((2.0) - (0.5)) + (x + u));
    end while;
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 1 else 0;
    parameter Real u = -1.2; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(-1.2, -0.4, 1);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=-1.2), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    a[mod((i + n), 3) + 1] := ((if mod(j, 5) == (i + j) then a[mod(mod((1), 5), 3) + 1] else v) + abs(v));
    y := (if div(n, 3) < (n + i) then (max(v, x) + max(y, n)) else abs(x));
    for k2 in 1:mod(max(n, i), 4) loop
      x := n;
      y := ((max((2.0), v) + (0.5)) + (((-0.75) + n) - v));
      j := mod(max((i + (-2)), rem((2), 4)), 11);
    end for;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := (((2.0) - (0.5)) + (x + u));
    end while;
  end A;
end M1046;
// model M1050.A
// stop 0.01
// final r[1] 0.46907135299264263
// final d[1] 0.46907135299264263
// final s[1] 0.46907135299264263
// final r[2] -0.2809286470073573
// final d[2] -0.2809286470073573
// final s[2] -0.2809286470073573
// final r[3] 0.6848878397173093
// final d[3] 0.6848878397173093
// final s[3] 0.6848878397173093
// final r[4] -0.4
// final d[4] -0.4
// final s[4] -0.4
// final r[5] 1.5
// final d[5] 1.5
// final s[5] 1.5
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x 0.46907135299264263
// final y -0.2809286470073573
// final a[1] 0.6848878397173093
// final a[2] -0.4
// final a[3] 1.5
// final i 1
// final j 2
package M1050
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    for k2 in 1:2 loop
      for k3 in 1:0 loop
        j := mod(max(mod(n, 5), (k2 - (2))), 11);
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := min(max((1.25), x), (x + x));
        end while;
      end for;
    end for;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := sqrt(abs((i * x) / (1 + abs(i))));
    end while;
    a[mod((n + n), 3) + 1] := (x - ((0.5) + (3.0)));
    a[mod(rem(n, 4), 3) + 1] := max((if abs((1.25)) > sqrt(abs(a[mod(rem(n, 4), 3) + 1])) then (0.5) else u), sqrt(abs(x)));
    y := (max((if v > j then y else a[mod(mod(i, 5), 3) + 1]), max((2.0), i)) - (max((1.25), x) + (a[mod(((-2) + i), 3) + 1] - x)));
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then -3 else 0;
    parameter Real u = 0.3; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, -0.4, -3);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    for k2 in 1:2 loop
      for k3 in 1:0 loop
        j := mod(max(mod(n, 5), (k2 - (2))), 11);
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := min(max((1.25), x), (x + x));
        end while;
      end for;
    end for;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := sqrt(abs((i * x) / (1 + abs(i))));
    end while;
    a[mod((n + n), 3) + 1] := (x - ((0.5) + (3.0)));
    a[mod(rem(n, 4), 3) + 1] := max((if abs((1.25)) > sqrt(abs(a[mod(rem(n, 4), 3) + 1])) then (0.5) else u), sqrt(abs(x)));
    y := (max((if v > j then y else a[mod(mod(i, 5), 3) + 1]), max((2.0), i)) - (max((1.25), x) + (a[mod(((-2) + i), 3) + 1] - x)));
  end A;
end M1050;
// model M1052.A
// stop 0.01
// final r[1] 1.4
// final d[1] 1.4
// final s[1] 1.4
// final r[2] 0.8366600265340756
// final d[2] 0.8366600265340756
// final s[2] 0.8366600265340756
// final r[3] 0.3
// final d[3] 0.3
// final s[3] 0.3
// final r[4] 0.7
// final d[4] 0.7
// final s[4] 0.7
// final r[5] 1.0
// final d[5] 1.0
// final s[5] 1.0
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 0
// final d[7] 0
// final s[7] 0
// final x 1.4
// final y 0.8366600265340756
// final a[1] 0.3
// final a[2] 0.7
// final a[3] 1.0
// final i 1
// final j 0
package M1052
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    if (div(i, 3) <> (i - (5)) or mod(n, 5) <> (i + i)) then
      for k3 in 1:mod((j + (1)), 4) loop
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := max((x - v), max((0.5), v));
        end while;
        a[mod(mod(j, 5), 3) + 1] := (y + (if (u - (-0.75)) > a[mod((j - i), 3) + 1] then u else y));
      end for;
    else
      y := (sin(max(a[mod(div(j, 3), 3) + 1], v)) - x);
      a[mod((j - (-3)), 3) + 1] := min(abs((3.0)), (if i < (u * x) / (1 + abs(u)) then y else x));
      a[mod((n + i), 3) + 1] := min((n + v), (if (0.5) > sin(j) then v else y));
    end if;
    j := mod(mod(rem(n, 4), 5), 11);
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := ((y - a[mod((n + j), 3) + 1]) + min(x, a[mod(((5) + j), 3) + 1]));
    end while;
    y := sqrt(abs(a[mod(max(n, (4)), 3) + 1]));
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 0 else 0;
    parameter Real u = 0.3; parameter Real v = 0.7;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, 0.7, 0);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=0.7), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    if (div(i, 3) <> (i - (5)) or mod(n, 5) <> (i + i)) then
      for k3 in 1:mod((j + (1)), 4) loop
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := max((x - v), max((0.5), v));
        end while;
        a[mod(mod(j, 5), 3) + 1] := (y + (if (u - (-0.75)) > a[mod((j - i), 3) + 1] then u else y));
      end for;
    else
      y := (sin(max(a[mod(div(j, 3), 3) + 1], v)) - x);
      a[mod((j - (-3)), 3) + 1] := min(abs((3.0)), (if i < (u * x) / (1 + abs(u)) then y else x));
      a[mod((n + i), 3) + 1] := min((n + v), (if (0.5) > sin(j) then v else y));
    end if;
    j := mod(mod(rem(n, 4), 5), 11);
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := ((y - a[mod((n + j), 3) + 1]) + min(x, a[mod(((5) + j), 3) + 1]));
    end while;
    y := sqrt(abs(a[mod(max(n, (4)), 3) + 1]));
  end A;
end M1052;
// model M1054.A
// stop 0.01
// final r[1] 0.8105816576913496
// final d[1] 0.8105816576913496
// final s[1] 0.8105816576913496
// final r[2] -0.8616778532962927
// final d[2] -0.8616778532962927
// final s[2] -0.8616778532962927
// final r[3] -1.2
// final d[3] -1.2
// final s[3] -1.2
// final r[4] -0.4
// final d[4] -0.4
// final s[4] -0.4
// final r[5] 0.7952707287670506
// final d[5] 0.7952707287670506
// final s[5] 0.7952707287670506
// final r[6] 7
// final d[6] 7
// final s[6] 7
// final r[7] 5
// final d[7] 5
// final s[7] 5
// final x 0.8105816576913496
// final y -0.8616778532962927
// final a[1] -1.2
// final a[2] -0.4
// final a[3] 0.7952707287670506
// final i 7
// final j 5
package M1054
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    a[mod(((5) - n), 3) + 1] := sqrt(abs(sqrt(abs(v))));
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := sin(max(a[mod((i - (4)), 3) + 1], y));
    end while;
    for k2 in 1:mod((n + j), 4) loop
      x := (abs(abs(y)) + x);
      i := mod(((i + j) + div(n, 3)), 11);
      j := mod(max(((2) + k2), (j + n)), 11);
    end for;
    y := ((if (v + a[mod(div(i, 3), 3) + 1]) > n then min(y, (-0.75)) else abs(y)) * (x - u)) / (1 + abs((if (v + a[mod(div(i, 3), 3) + 1]) > n then min(y, (-0.75)) else abs(y))));
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then -3 else 0;
    parameter Real u = -1.2; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(-1.2, -0.4, -3);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=-1.2), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    a[mod(((5) - n), 3) + 1] := sqrt(abs(sqrt(abs(v))));
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := sin(max(a[mod((i - (4)), 3) + 1], y));
    end while;
    for k2 in 1:mod((n + j), 4) loop
      x := (abs(abs(y)) + x);
      i := mod(((i + j) + div(n, 3)), 11);
      j := mod(max(((2) + k2), (j + n)), 11);
    end for;
    y := ((if (v + a[mod(div(i, 3), 3) + 1]) > n then min(y, (-0.75)) else abs(y)) * (x - u)) / (1 + abs((if (v + a[mod(div(i, 3), 3) + 1]) > n then min(y, (-0.75)) else abs(y))));
  end A;
end M1054;
// model M1061.A
// stop 0.01
// final r[1] 0.3
// final d[1] 0.3
// final s[1] 0.3
// final r[2] 0.7
// final d[2] 0.7
// final s[2] 0.7
// final r[3] 0.3
// final d[3] 0.3
// final s[3] 0.3
// final r[4] 2.6414709848078965
// final d[4] 2.6414709848078965
// final s[4] 2.6414709848078965
// final r[5] -0.24772255750516609
// final d[5] -0.24772255750516609
// final s[5] -0.24772255750516609
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x 0.3
// final y 0.7
// final a[1] 0.3
// final a[2] 2.6414709848078965
// final a[3] -0.24772255750516609
// final i 1
// final j 2
package M1061
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    x := ((((2.0) + (-0.75)) + (y - a[mod(mod(j, 5), 3) + 1])) * max((v - (-0.75)), ((0.5) + (2.0)))) / (1 + abs((((2.0) + (-0.75)) + (y - a[mod(mod(j, 5), 3) + 1]))));
    for k2 in 1:mod(max((3), j), 4) loop
      a[mod(max(i, j), 3) + 1] := (u - sqrt(abs(a[mod(rem(n, 4), 3) + 1])));
    end for;
    x := i;
    x := min(max(sqrt(abs(a[mod(div(i, 3), 3) + 1])), sin(x)), ((y + v) + (v - v)));
    if (v + y) > a[mod(div((4), 3), 3) + 1] then
      a[mod(div((4), 3), 3) + 1] := ((x + (0.5)) + (j - v));
      w := 0;
      while w < 3 and x < 5 loop
        w := w + 1;
        x := (u - min(v, u));
      end while;
    elseif (i + j) <> ((2) + i) then
      for k3 in 1:2 loop
        y := max(sqrt(abs((a[mod(rem(j, 4), 3) + 1] + x))), (min(u, x) + sqrt(abs(x))));
        y := max(((0.5) + sqrt(abs((2.0)))), j);
        y := (((if max((-2), k3) == (n - (5)) then v else u) + sqrt(abs(n))) + u);
      end for;
    end if;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := u;
    end while;
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 4 else 0;
    parameter Real u = 0.3; parameter Real v = 0.7;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, 0.7, 4);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=0.7), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    x := ((((2.0) + (-0.75)) + (y - a[mod(mod(j, 5), 3) + 1])) * max((v - (-0.75)), ((0.5) + (2.0)))) / (1 + abs((((2.0) + (-0.75)) + (y - a[mod(mod(j, 5), 3) + 1]))));
    for k2 in 1:mod(max((3), j), 4) loop
      a[mod(max(i, j), 3) + 1] := (u - sqrt(abs(a[mod(rem(n, 4), 3) + 1])));
    end for;
    x := i;
    x := min(max(sqrt(abs(a[mod(div(i, 3), 3) + 1])), sin(x)), ((y + v) + (v - v)));
    if (v + y) > a[mod(div((4), 3), 3) + 1] then
      a[mod(div((4), 3), 3) + 1] := ((x + (0.5)) + (j - v));
      w := 0;
      while w < 3 and x < 5 loop
        w := w + 1;
        x := (u - min(v, u));
      end while;
    elseif (i + j) <> ((2) + i) then
      for k3 in 1:2 loop
        y := max(sqrt(abs((a[mod(rem(j, 4), 3) + 1] + x))), (min(u, x) + sqrt(abs(x))));
        y := max(((0.5) + sqrt(abs((2.0)))), j);
        y := (((if max((-2), k3) == (n - (5)) then v else u) + sqrt(abs(n))) + u);
      end for;
    end if;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := u;
    end while;
  end A;
end M1061;
// model M1073.A
// stop 0.01
// final r[1] 3.5279757386950155
// final d[1] 3.5279757386950155
// final s[1] 3.5279757386950155
// final r[2] 0.9477225575051661
// final d[2] 0.9477225575051661
// final s[2] 0.9477225575051661
// final r[3] 1.6
// final d[3] 1.6
// final s[3] 1.6
// final r[4] -0.4
// final d[4] -0.4
// final s[4] -0.4
// final r[5] 1.5
// final d[5] 1.5
// final s[5] 1.5
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x 3.5279757386950155
// final y 0.9477225575051661
// final a[1] 1.6
// final a[2] -0.4
// final a[3] 1.5
// final i 1
// final j 2
package M1073
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    if u > (u - u) then
      x := ((if abs(j) > abs(n) then (v - v) else sqrt(abs(v))) + (((3.0) + y) + sin(u)));
    else
      if div(n, 3) == mod(i, 5) then
        for k4 in 1:mod(mod(j, 5), 4) loop
          y := (min((a[mod((j + j), 3) + 1] - x), max(u, v)) + (x - abs(y)));
        end for;
      end if;
      j := mod(mod((j - (-1)), 5), 11);
      w := 0;
      while w < 3 and x < 5 loop
        w := w + 1;
        x := (max((3.0), x) - j);
      end while;
    end if;
    y := (abs(max(v, (-0.75))) + sqrt(abs(u)));
    a[mod((n - n), 3) + 1] := (min((0.5), x) + (a[mod(mod(j, 5), 3) + 1] + v));
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 3 else 0;
    parameter Real u = 0.3; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, -0.4, 3);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    if u > (u - u) then
      x := ((if abs(j) > abs(n) then (v - v) else sqrt(abs(v))) + (((3.0) + y) + sin(u)));
    else
      if div(n, 3) == mod(i, 5) then
        for k4 in 1:mod(mod(j, 5), 4) loop
          y := (min((a[mod((j + j), 3) + 1] - x), max(u, v)) + (x - abs(y)));
        end for;
      end if;
      j := mod(mod((j - (-1)), 5), 11);
      w := 0;
      while w < 3 and x < 5 loop
        w := w + 1;
        x := (max((3.0), x) - j);
      end while;
    end if;
    y := (abs(max(v, (-0.75))) + sqrt(abs(u)));
    a[mod((n - n), 3) + 1] := (min((0.5), x) + (a[mod(mod(j, 5), 3) + 1] + v));
  end A;
end M1073;
// model M1074.A
// stop 0.01
// final r[1] 0.3
// final d[1] 0.3
// final s[1] 0.3
// final r[2] -0.4
// final d[2] -0.4
// final s[2] -0.4
// final r[3] 0.3
// final d[3] 0.3
// final s[3] 0.3
// final r[4] 0.3
// final d[4] 0.3
// final s[4] 0.3
// final r[5] 1.5
// final d[5] 1.5
// final s[5] 1.5
// final r[6] 4
// final d[6] 4
// final s[6] 4
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x 0.3
// final y -0.4
// final a[1] 0.3
// final a[2] 0.3
// final a[3] 1.5
// final i 4
// final j 2
package M1074
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    i := mod(mod(rem((-1), 4), 5), 11);
    if (if i > sqrt(abs(y)) then (-0.75) else v) > (x + (0.5)) then
      a[mod(((-3) + (4)), 3) + 1] := sqrt(abs((a[mod(((-3) + i), 3) + 1] + u)));
    end if;
    for k2 in 1:mod(max(i, i), 4) loop
      if mod((0), 5) <> mod(j, 5) then
        if ((k2 + i) <= (n + n) and x < k2) then
          y := x;
          x := y;
        end if;
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := k2;
        end while;
        i := mod(max((k2 + k2), mod(i, 5)), 11);
      end if;
      y := ((max((1.25), x) + sin(x)) + n);
      x := (sin((if rem(i, 4) < div((5), 3) then u else x)) * sin(max((1.25), u))) / (1 + abs(sin((if rem(i, 4) < div((5), 3) then u else x))));
      if (u + a[mod((i - (3)), 3) + 1]) > u then
        break;
      end if;
    end for;
    a[mod(div(i, 3), 3) + 1] := (if ((n - i) > rem(n, 4) or (j + (-3)) > max(i, (0))) then x else j);
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 8 else 0;
    parameter Real u = 0.3; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, -0.4, 8);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    i := mod(mod(rem((-1), 4), 5), 11);
    if (if i > sqrt(abs(y)) then (-0.75) else v) > (x + (0.5)) then
      a[mod(((-3) + (4)), 3) + 1] := sqrt(abs((a[mod(((-3) + i), 3) + 1] + u)));
    end if;
    for k2 in 1:mod(max(i, i), 4) loop
      if mod((0), 5) <> mod(j, 5) then
        if ((k2 + i) <= (n + n) and x < k2) then
          y := x;
          x := y;
        end if;
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := k2;
        end while;
        i := mod(max((k2 + k2), mod(i, 5)), 11);
      end if;
      y := ((max((1.25), x) + sin(x)) + n);
      x := (sin((if rem(i, 4) < div((5), 3) then u else x)) * sin(max((1.25), u))) / (1 + abs(sin((if rem(i, 4) < div((5), 3) then u else x))));
      if (u + a[mod((i - (3)), 3) + 1]) > u then
        break;
      end if;
    end for;
    a[mod(div(i, 3), 3) + 1] := (if ((n - i) > rem(n, 4) or (j + (-3)) > max(i, (0))) then x else j);
  end A;
end M1074;
// model M1077.A
// stop 0.01
// final r[1] 1.9306935792844526
// final d[1] 1.9306935792844526
// final s[1] 1.9306935792844526
// final r[2] 0.8944271909999159
// final d[2] 0.8944271909999159
// final s[2] 0.8944271909999159
// final r[3] -1.0407025731743182
// final d[3] -1.0407025731743182
// final s[3] -1.0407025731743182
// final r[4] -0.4
// final d[4] -0.4
// final s[4] -0.4
// final r[5] 1.5
// final d[5] 1.5
// final s[5] 1.5
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x 1.9306935792844526
// final y 0.8944271909999159
// final a[1] -1.0407025731743182
// final a[2] -0.4
// final a[3] 1.5
// final i 1
// final j 2
package M1077
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    y := max(min((y - a[mod(div(j, 3), 3) + 1]), (x * a[mod(rem(n, 4), 3) + 1]) / (1 + abs(x))), u);
    y := sqrt(abs(min((i + u), ((2.0) * x) / (1 + abs((2.0))))));
    a[mod(mod((5), 5), 3) + 1] := ((u + (-0.75)) + sin(n));
    for k2 in 1:0 loop
      y := abs((abs(y) * v) / (1 + abs(abs(y))));
    end for;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := abs(x);
    end while;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := (((-0.75) * u) / (1 + abs((-0.75))) + (y * (3.0)) / (1 + abs(y)));
    end while;
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 2 else 0;
    parameter Real u = -1.2; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(-1.2, -0.4, 2);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=-1.2), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    y := max(min((y - a[mod(div(j, 3), 3) + 1]), (x * a[mod(rem(n, 4), 3) + 1]) / (1 + abs(x))), u);
    y := sqrt(abs(min((i + u), ((2.0) * x) / (1 + abs((2.0))))));
    a[mod(mod((5), 5), 3) + 1] := ((u + (-0.75)) + sin(n));
    for k2 in 1:0 loop
      y := abs((abs(y) * v) / (1 + abs(abs(y))));
    end for;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := abs(x);
    end while;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := (((-0.75) * u) / (1 + abs((-0.75))) + (y * (3.0)) / (1 + abs(y)));
    end while;
  end A;
end M1077;
// model M1081.A
// stop 0.01
// final r[1] 2.5
// final d[1] 2.5
// final s[1] 2.5
// final r[2] 2.5
// final d[2] 2.5
// final s[2] 2.5
// final r[3] 2.5
// final d[3] 2.5
// final s[3] 2.5
// final r[4] 0.7
// final d[4] 0.7
// final s[4] 0.7
// final r[5] 1.5
// final d[5] 1.5
// final s[5] 1.5
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 7
// final d[7] 7
// final s[7] 7
// final x 2.5
// final y 2.5
// final a[1] 2.5
// final a[2] 0.7
// final a[3] 1.5
// final i 1
// final j 7
package M1081
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    for k2 in 1:mod((j - j), 4) loop
      for k3 in 1:0 loop
        i := mod((div(j, 3) - max((0), j)), 11);
        y := (((if div(j, 3) <> rem(i, 4) then x else k3) + u) + v);
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := sqrt(abs(u));
        end while;
      end for;
      y := ((min((1.25), x) - max(a[mod((i + i), 3) + 1], j)) - (((3.0) - x) + ((-0.75) + u)));
    end for;
    y := ((u - ((2.0) - j)) - (abs(x) - max(x, u)));
    j := mod(max(((5) + j), rem(i, 4)), 11);
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 0 else 0;
    parameter Real u = 2.5; parameter Real v = 0.7;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(2.5, 0.7, 0);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=2.5), y(start=0.7), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    for k2 in 1:mod((j - j), 4) loop
      for k3 in 1:0 loop
        i := mod((div(j, 3) - max((0), j)), 11);
        y := (((if div(j, 3) <> rem(i, 4) then x else k3) + u) + v);
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := sqrt(abs(u));
        end while;
      end for;
      y := ((min((1.25), x) - max(a[mod((i + i), 3) + 1], j)) - (((3.0) - x) + ((-0.75) + u)));
    end for;
    y := ((u - ((2.0) - j)) - (abs(x) - max(x, u)));
    j := mod(max(((5) + j), rem(i, 4)), 11);
  end A;
end M1081;
// model M1082.A
// stop 0.01
// final r[1] 0.7
// final d[1] 0.7
// final s[1] 0.7
// final r[2] 0.7
// final d[2] 0.7
// final s[2] 0.7
// final r[3] 0.3
// final d[3] 0.3
// final s[3] 0.3
// final r[4] 0.7
// final d[4] 0.7
// final s[4] 0.7
// final r[5] 0.875
// final d[5] 0.875
// final s[5] 0.875
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 1
// final d[7] 1
// final s[7] 1
// final x 0.7
// final y 0.7
// final a[1] 0.3
// final a[2] 0.7
// final a[3] 0.875
// final i 1
// final j 1
package M1082
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    for k2 in 1:mod((i + i), 4) loop
      if rem(i, 4) == div(j, 3) then
        y := (sqrt(abs(sqrt(abs((0.5))))) + abs((u + x)));
        x := (if (i - (3)) > rem(j, 4) then abs(min(u, (-0.75))) else (3.0));
      else
        j := mod(max(max(k2, j), (i - (4))), 11);
      end if;
    end for;
    if rem(i, 4) == max(n, j) then
      x := v;
    else
      j := mod(rem((j + (3)), 4), 11);
    end if;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := a[mod(((0) + j), 3) + 1];
    end while;
    a[mod(div(n, 3), 3) + 1] := ((n * j) / (1 + abs(n)) + (u - u));
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 7 else 0;
    parameter Real u = 0.3; parameter Real v = 0.7;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, 0.7, 7);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=0.7), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    for k2 in 1:mod((i + i), 4) loop
      if rem(i, 4) == div(j, 3) then
        y := (sqrt(abs(sqrt(abs((0.5))))) + abs((u + x)));
        x := (if (i - (3)) > rem(j, 4) then abs(min(u, (-0.75))) else (3.0));
      else
        j := mod(max(max(k2, j), (i - (4))), 11);
      end if;
    end for;
    if rem(i, 4) == max(n, j) then
      x := v;
    else
      j := mod(rem((j + (3)), 4), 11);
    end if;
    w := 0;
    while w < 3 and x < 5 loop
      w := w + 1;
      x := a[mod(((0) + j), 3) + 1];
    end while;
    a[mod(div(n, 3), 3) + 1] := ((n * j) / (1 + abs(n)) + (u - u));
  end A;
end M1082;
// model M1090.A
// stop 0.01
// final r[1] 0.8499999999999999
// final d[1] 0.8499999999999999
// final s[1] 0.8499999999999999
// final r[2] 0.8499999999999999
// final d[2] 0.8499999999999999
// final s[2] 0.8499999999999999
// final r[3] 1.3
// final d[3] 1.3
// final s[3] 1.3
// final r[4] 0.8666666666666667
// final d[4] 0.8666666666666667
// final s[4] 0.8666666666666667
// final r[5] 0.9750000000000001
// final d[5] 0.9750000000000001
// final s[5] 0.9750000000000001
// final r[6] 1
// final d[6] 1
// final s[6] 1
// final r[7] 2
// final d[7] 2
// final s[7] 2
// final x 0.8499999999999999
// final y 0.8499999999999999
// final a[1] 1.3
// final a[2] 0.8666666666666667
// final a[3] 0.9750000000000001
// final i 1
// final j 2
package M1090
  function f
    input Real u; input Real v; input Integer n;
    output Real x = u; output Real y = v; output Real a[3] = {u, v, 1.5}; output Integer i = 1; output Integer j = 2;
  protected
    Integer w = 0;
  algorithm
    y := ((sqrt(abs(x)) + x) + sqrt(abs((u - (3.0)))));
    for k2 in 1:mod(((-1) - n), 4) loop
      a[mod((n + k2), 3) + 1] := (max(y, k2) * x) / (1 + abs(max(y, k2)));
      for k3 in 1:mod((k2 + k2), 4) loop
        y := min((((-0.75) + u) - (a[mod(((2) + n), 3) + 1] - k2)), y);
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := (min(x, u) + min(i, x));
        end while;
        a[mod(((5) + (4)), 3) + 1] := min((i + (0.5)), abs(x));
      end for;
      x := x;
    end for;
    x := max(u, ((y + v) + u));
    y := x;
    x := y;
  end f;
  function g
    input Real u; input Real v; input Integer n; output Real r[7];
  protected
    Real x, y, a[3]; Integer i, j;
  algorithm
    (x, y, a, i, j) := f(u, v, n);
    r := {x, y, a[1], a[2], a[3], i, j};
  end g;
  model A
    Integer n = if time < 5 then 8 else 0;
    parameter Real u = 0.3; parameter Real v = -0.4;
    Real r[7] = g(u, v, n);
    Real s[7] = g(u + 0*time, v, n);
    constant Real c[7] = g(0.3, -0.4, 8);
    Real d[7] = c + fill(0*time, 7);
    Real x(start=0.3), y(start=-0.4), a[3]; Integer i, j, w;
  algorithm
    x := u; y := v; a := {u, v, 1.5}; i := 1; j := 2; w := 0;
    y := ((sqrt(abs(x)) + x) + sqrt(abs((u - (3.0)))));
    for k2 in 1:mod(((-1) - n), 4) loop
      a[mod((n + k2), 3) + 1] := (max(y, k2) * x) / (1 + abs(max(y, k2)));
      for k3 in 1:mod((k2 + k2), 4) loop
        y := min((((-0.75) + u) - (a[mod(((2) + n), 3) + 1] - k2)), y);
        w := 0;
        while w < 3 and x < 5 loop
          w := w + 1;
          x := (min(x, u) + min(i, x));
        end while;
        a[mod(((5) + (4)), 3) + 1] := min((i + (0.5)), abs(x));
      end for;
      x := x;
    end for;
    x := max(u, ((y + v) + u));
    y := x;
    x := y;
  end A;
end M1090;
