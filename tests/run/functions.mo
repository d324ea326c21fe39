// Functions: variables without values, sizes, records, enumerations, defaults, partial derivatives.
//
package Functions
  record P
    Real x;
    Real y;
  end P;

// model Functions.Unassigned
// refused E0511 never assigns `y`
  model Unassigned
    function f
      input Real u;
      output Real y;
    protected
      Real z;
    algorithm
      z := u;
    end f;
    Real y = f(time);
  end Unassigned;

// model Functions.UnassignedKnown
// refused E0511 has not been assigned
  model UnassignedKnown
    function f
      input Integer u;
      output Integer y;
    protected
      Integer z;
    algorithm
      z := u;
    end f;
    Real x[f(2)];
  end UnassignedKnown;

// model Functions.ReadFirst
// refused E0511
  model ReadFirst
    function f
      input Real u;
      output Real y;
    protected
      Real z;
    algorithm
      y := z + u;
      y := 2*y;
    end f;
    Real y = f(time);
  end ReadFirst;

// model Functions.SometimesAssigned
// fails E0608 the output `y` has not been assigned
  model SometimesAssigned
    function f
      input Real u;
      output Real y;
    algorithm
      if u < 0.5 then
        y := u;
      end if;
    end f;
    Real y = f(time);
  end SometimesAssigned;

// model Functions.SometimesRead
// fails E0608 `z` is used before it has been assigned
  model SometimesRead
    function f
      input Real u;
      output Real y;
    protected
      Real z;
    algorithm
      y := u;
      if u < 0.5 then
        z := u;
      end if;
      if u > 0.7 then
        y := z;
      end if;
    end f;
    Real y = f(time);
  end SometimesRead;

// model Functions.AlwaysAssigned
// final y 3
  model AlwaysAssigned
    function f
      input Real u;
      input Integer n;
      output Real y;
    protected
      Real z;
      Real a[3];
    algorithm
      if u < 0.5 then
        z := 1;
      else
        z := 2;
      end if;
      for i in 1:3 loop
        a[i] := z*i;
      end for;
      y := 0;
      for i in 1:n loop
        y := max(y, a[i]/2);
      end for;
    end f;
    Real y = f(time, 3);
  end AlwaysAssigned;

// model Functions.PartlyAssigned
// fails E0608 `a` is used before it has been assigned
  model PartlyAssigned
    function f
      input Integer n;
      output Real y;
    protected
      Real a[4];
    algorithm
      for i in 1:n loop
        a[i] := i;
      end for;
      y := a[3];
    end f;
    Real y = f(4 - integer(2*time));
  end PartlyAssigned;

// model Functions.LeftEarly
// fails E0608 the output `y` has not been assigned
  model LeftEarly
    function f
      input Real u;
      output Real y;
    algorithm
      if u > 0.5 then
        return;
      end if;
      y := u;
    end f;
    Real y = f(time);
  end LeftEarly;

// model Functions.ArgumentSize
// refused E0302 input `x` needs size 3, but is given 2
  model ArgumentSize
    function f
      input Real x[3];
      output Real y;
    algorithm
      y := sum(x);
    end f;
    Real y = f({time, 1});
  end ArgumentSize;

// model Functions.ArgumentSizes
// refused E0302 input `b` needs size 2, but is given 3
  model ArgumentSizes
    function f
      input Real a[:];
      input Real b[size(a, 1)];
      output Real y;
    protected
      Real z;
    algorithm
      z := a*b;
      y := z;
    end f;
    Real y = f({time, 1}, {1, 2, 3});
  end ArgumentSizes;

// model Functions.ArgumentSizeVaries
// fails E0608 input `a` needs size 3, but is given 2
  model ArgumentSizeVaries
    function f
      input Integer n;
      input Real a[n];
      output Real y;
    protected
      Real z;
    algorithm
      z := sum(a);
      y := z;
    end f;
    Integer n = if time < 0.5 then 2 else 3;
    Real y = f(n, {time, 1});
  end ArgumentSizeVaries;

// model Functions.WrongSizeInside
// refused E0302
  model WrongSizeInside
    function f
      input Integer n;
      output Real a[3];
    algorithm
      a := fill(1.0, n);
    end f;
    parameter Real a[3] = f(2);
  end WrongSizeInside;

// model Functions.RecordArrays
// final s[2].x 2
// final t[3] 4
// final q.y 7
  model RecordArrays
    function make
      input Real u;
      output P s[2];
    algorithm
      for i in 1:2 loop
        s[i].x := i*u;
        s[i].y := i;
      end for;
    end make;
    function more
      input Real u;
      input Integer n;
      output P s[n];
      output Real t[n];
      output P last;
    protected
      P p;
    algorithm
      for i in 1:n loop
        p.x := i + u;
        p.y := 2*i + u;
        s[i] := p;
      end for;
      t := s.x;
      last := s[n];
    end more;
    P s[2] = make(time);
    P r[3];
    Real t[3];
    P q;
  equation
    (r, t, q) = more(time, 3);
  end RecordArrays;

// model Functions.RecordVectors
// final s 3
// final p[2].y 4
// final q[2].x 5
// final m[2,1].x 3
  model RecordVectors
    P p[2] = P({time, 2*time}, {3, 4});
    P q[2] = P(x = 5*time, y = {1, 2});
    P m[2, 1] = P({{time}, {3*time}}, 0);
    Real s = sum(p.x);
  end RecordVectors;

// model Functions.RecordVectorsDiffer
// refused E0302
  model RecordVectorsDiffer
    P p[2] = P({time, 2*time}, {3, 4, 5});
  end RecordVectorsDiffer;

// model Functions.Enumerations
// final a 3
// stop 0.8
// final e 3
// final b 1
  model Enumerations
    type E = enumeration(one, two, three);
    function value
      input E e;
      output Real y;
    protected
      Real t[E] = {1, 2.2, 3};
    algorithm
      y := t[e];
    end value;
    function next
      input E e;
      output E n;
    algorithm
      n := if e == E.one then E.two else E.three;
    end next;
    function later
      input E e;
      input E f;
      output Boolean b;
    protected
      Integer k;
    algorithm
      k := Integer(e);
      b := k > Integer(f);
    end later;
    Real a = value(E.two) + time;
    E e = next(if time < 0.5 then E.one else E.two);
    Boolean b = later(e, E.one);
  end Enumerations;

// model Functions.Defaults
// final a 6
// final b 9
// final c 12
// final d 13
  model Defaults
    function f
      input Real x;
      input Real y = 2*x;
      input Real z = x + y;
      output Real r;
    algorithm
      r := x + y + z;
    end f;
    Real a = f(time);
    Real b = f(time, z = 6);
    Real c = f(time, 5);
    Real d = f(y = 4, x = time, z = 8);
  end Defaults;

// model Functions.DefaultOfItself
// refused E0307
  model DefaultOfItself
    function f
      input Real x = f();
      output Real y = x;
    end f;
    Real x = f();
  end DefaultOfItself;

// model Functions.PartialDerivatives
// final y 4
// final z 2
// final w 3
// final v 6
  model PartialDerivatives
    function f
      input Real x;
      input Real k;
      output Real y;
    algorithm
      y := k*x^2;
    end f;
    function fx = der(f, x);
    function fxx = der(fx, x);
    function fxk = der(f, x, k);
    function g
      input Real x;
      input Real y;
      output Real z;
    protected
      Real s;
    algorithm
      s := 1;
      for i in 1:3 loop
        s := s*x;
      end for;
      z := s*y;
    end g;
    function gx = der(g, x);
    Real y = fx(time, 2);
    Real z = fxx(time, 1);
    Real w = fxk(time + 0.5, 7);
    Real v = gx(1, 2*time);
  end PartialDerivatives;

// model Functions.PartialOfInteger
// refused E0301 Real scalar
  model PartialOfInteger
    function f
      input Real x;
      input Integer k;
      output Real y;
    algorithm
      y := k*x^2;
    end f;
    function fk = der(f, k);
    Real y = fk(time, 2);
  end PartialOfInteger;

// model Functions.CMathematics
// final s 0.8414709848078965
// final p 8
// final h 5
// final m 0.5
// final l 3
  model CMathematics
    function sine
      input Real x;
      output Real y;
      external "C" y = sin(x);
    end sine;
    function pow
      input Real x;
      input Real y;
      output Real z;
      external "C";
    end pow;
    function length
      input Real a;
      input Real b;
      output Real c;
      external "C" c = hypot(a, b);
    end length;
    function rest
      input Real a;
      input Real b;
      output Real c;
      external "C" c = fmod(a, b);
    end rest;
    function bits
      input Real x;
      output Real y;
      external "C" y = log2(x);
    end bits;
    Real s = sine(time);
    Real p = pow(2, 3*time);
    Real h = length(3*time, 4);
    Real m = rest(2.5*time, 2);
    Real l = bits(7*time + 1);
  end CMathematics;

// model Functions.ForeignCode
// refused E0309 the external function `own` (C) is not available
  model ForeignCode
    function f
      input Real x;
      output Real y;
      external "C" y = own(x);
    end f;
    Real y = f(time);
  end ForeignCode;

// model Functions.Endless
// fails E0608 does not end
  model Endless
    function a
      input Real n;
      output Real y;
    algorithm
      y := if n < 2 then n else a(n - 1) + a(n - 2);
    end a;
    Real x = a(60 + time);
  end Endless;

// model Functions.EventsOfArguments
// final c 2
  model EventsOfArguments "Relations of arguments cause events, those of the function do not"
    function f
      input Real x;
      output Real y;
    algorithm
      y := 2*x;
    end f;
    Real s = sin(6.283185307179586*time);
    Real y = f(if s > 0.99 then 1 else 2);
    Integer c(start = 0, fixed = true);
  equation
    when {y < 3, y > 3} then
      c = pre(c) + 1;
    end when;
  end EventsOfArguments;

// model Functions.SemiLinearChain
// stop 0.75
// final s1 3
// final y 1.5
// final t2 7
// final z 3.5
  model SemiLinearChain
    Real x = 2*time - 1;
    Real y;
    Real s1;
    Real z;
    Real t1;
    Real t2;
  equation
    y = semiLinear(x, 3, s1);
    y = semiLinear(x, s1, 5);
    z = semiLinear(x, 7, t1);
    -z = semiLinear(-x, t2, t1);
    z = semiLinear(x, t2, 9);
  end SemiLinearChain;

// model Functions.SemiLinearBack
// stop 0.25
// final s1 5
// final y -2.5
// final t1 9
// final t2 9
  model SemiLinearBack
    extends SemiLinearChain;
  end SemiLinearBack;
end Functions;
