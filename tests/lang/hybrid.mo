// model Carts
// unknowns 6
// equations 5..7
// equation v2 - v1 = -e * (pre(v2) - pre(v1))
model Carts
  parameter Real m1 = 1, m2 = 2, e = 0.5;
  Real x1(start = 0), x2(start = 1), v1(start = 1), v2(start = 0);
  Real f;
  Boolean contact;
equation
  der(x1) = v1;
  der(x2) = v2;
  m1*der(v1) = -f;
  m2*der(v2) = f;
  contact = x1 >= x2;
  if not contact then
    f = 0;
  end if;
  when contact then
    v2 - v1 = -e*(pre(v2) - pre(v1));
  end when;
end Carts;

// model Ball
// unknowns 3
// equation reinit(v, -e * pre(v))
// equation when {h < 0.0, n > 5} then
model Ball
  parameter Real e = 0.7;
  Real h(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  discrete Integer n(start = 0);
equation
  der(h) = v;
  der(v) = -9.81;
  when {h < 0.0, n > 5} then
    reinit(v, -e*pre(v));
    n = pre(n) + 1;
  end when;
end Ball;

// model Unbalanced
// error E0403 2 unknowns, but 1 equation
model Unbalanced
  Real x;
  Real y;
equation
  x = 1;
end Unbalanced;

// Only `initial()` itself makes a `when` active at the start.

// model InitialInFunction
// equation when {false, sample(0.1, 0.1)} then
// equation when {initial(), sample(0.1, 0.1)} then
function same
  input Boolean b;
  output Boolean c = b;
algorithm
end same;

model InitialInFunction
  discrete Real x, y;
equation
  when {same(initial()), sample(0.1, 0.1)} then
    x = 2;
  end when;
  when {initial(), sample(0.1, 0.1)} then
    y = 2;
  end when;
end InitialInFunction;
