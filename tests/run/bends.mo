// Conditions that are zero at the start, at a bend of their functions: the side to which the argument leaves decides.
//
// model Bends.AbsGreaterEqual
// final n 0
// final y 1
// final z 1
// model Bends.AbsGreater
// final n 0
// final y 0
// final z -1
// model Bends.AbsOther
// final n 1
// final y 1
// final z 1
// model Bends.Max
// final n 1
// final y 1
// final z 1
// model Bends.MaxOfBoth
// final n 0
// final y 1
// final z 1
// model Bends.Min
// final n 0
// final y 0
// final z -1
// model Bends.MinOfTwo
// final n 1
// final y 1
// final z 1
// model Bends.MinTurns
// final n 1
// final y 1
// final z 1
// model Bends.Nested
// final n 1
// final y 1
// final z 1
// model Bends.NestedEqual
// final n 0
// final y 1
// final z 1
package Bends
  model AbsGreaterEqual
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if abs(x) >= x then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if abs(x) >= x then 1 else -1;
    when abs(x) >= x then
      n = pre(n) + 1;
    end when;
  end AbsGreaterEqual;

  model AbsGreater
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if abs(x) > x then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if abs(x) > x then 1 else -1;
    when abs(x) > x then
      n = pre(n) + 1;
    end when;
  end AbsGreater;

  model AbsOther
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if abs(x) > -x then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if abs(x) > -x then 1 else -1;
    when abs(x) > -x then
      n = pre(n) + 1;
    end when;
  end AbsOther;

  model Max
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if max(x, 0) > 0 then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if max(x, 0) > 0 then 1 else -1;
    when max(x, 0) > 0 then
      n = pre(n) + 1;
    end when;
  end Max;

  model MaxOfBoth
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if max(x, -x) >= 0 then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if max(x, -x) >= 0 then 1 else -1;
    when max(x, -x) >= 0 then
      n = pre(n) + 1;
    end when;
  end MaxOfBoth;

  model Min
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if min(x, 0) < 0 then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if min(x, 0) < 0 then 1 else -1;
    when min(x, 0) < 0 then
      n = pre(n) + 1;
    end when;
  end Min;

  model MinOfTwo
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if min(x, 2*x) > 0 then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if min(x, 2*x) > 0 then 1 else -1;
    when min(x, 2*x) > 0 then
      n = pre(n) + 1;
    end when;
  end MinOfTwo;

  model MinTurns
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if min(-x, 2*x) < 0 then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if min(-x, 2*x) < 0 then 1 else -1;
    when min(-x, 2*x) < 0 then
      n = pre(n) + 1;
    end when;
  end MinTurns;

  model Nested
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if abs(abs(x) - 2*x) > 0.5*x then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if abs(abs(x) - 2*x) > 0.5*x then 1 else -1;
    when abs(abs(x) - 2*x) > 0.5*x then
      n = pre(n) + 1;
    end when;
  end Nested;

  model NestedEqual
    Real x = sin(3*time);
    Integer n(start = 0, fixed = true);
    Integer y = if abs(x - 2*x) - x >= 0 then 1 else 0;
    Real z(start = 0, fixed = true);
  equation
    der(z) = if abs(x - 2*x) - x >= 0 then 1 else -1;
    when abs(x - 2*x) - x >= 0 then
      n = pre(n) + 1;
    end when;
  end NestedEqual;
end Bends;
