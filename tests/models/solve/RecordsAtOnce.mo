// All fields of a record are assigned at once: what is assigned may read the fields as they were before.
//
// (1, 2) is swapped to (2, 1), then f makes (1 + 1, 1*2) of it, and of the vector {2, 1} it makes {1 + 1, 2}. The two points swap
// their places as wholes.
//
// expect: y at 1 = 2222 within 1e-9
// expect: z at 1 = 3412 within 1e-9

model RecordsAtOnce
  record R
    Real x, y;
    Real z[2];
    Integer n;
  end R;
  record P
    Real a, b;
  end P;
  function f
    input Real a;
    input R r;
    output R s;
  algorithm
    s.x := a + r.y;
    s.y := a*r.x;
    s.z := {a + r.z[2], r.z[1]};
    s.n := 2;
  end f;
  function g
    input Real a;
    output Real b;
  protected
    R r;
  algorithm
    r := R(a, 2*a, {1, 2}, 3);
    r := R(r.y, r.x, {r.z[2], r.z[1]}, r.n);
    r := f(a, r);
    b := r.x + 10*r.y + 100*r.z[1] + 1000*r.z[2];
  end g;
  function swapped
    input Real a;
    output Real b;
  protected
    P p[2];
  algorithm
    p := {P(a, 2*a), P(3*a, 4*a)};
    p := {p[2], p[1]};
    b := 1000*p[1].a + 100*p[1].b + 10*p[2].a + p[2].b;
  end swapped;
  Real y = g(time);
  Real z = swapped(time);
end RecordsAtOnce;
