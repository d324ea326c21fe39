// Two carts collide.
//
// The only thing said about the impact is the law of restitution. Momentum is conserved because the balances of
// both carts hold through the impact with the same impulsive force.
//
// What to look at: v1 and v2 at t = 1 s, and the impulse of f.
//
// expect: event at 1 within 1e-8
// expect: v1 at 1+ = -1.16 within 1e-9
// expect: v2 at 1+ = 0.44 within 1e-9
// expect: impulse f at 1 = 4.32 within 1e-8
// expect: conserved 2*v1 + 3*v2 within 1e-9
// expect: x2 at 2 = 1.44 within 1e-8

model CollidingCarts "Impact of two carts with restitution"
  parameter Real m1(unit = "kg") = 2 "Mass of the first cart";
  parameter Real m2(unit = "kg") = 3 "Mass of the second cart";
  parameter Real e = 0.8 "Restitution";
  Real x1(unit = "m", start = 0, fixed = true) "Position of the first cart";
  Real x2(unit = "m", start = 2, fixed = true) "Position of the second cart";
  Real v1(unit = "m/s", start = 1, fixed = true) "Velocity of the first cart";
  Real v2(unit = "m/s", start = -1, fixed = true) "Velocity of the second cart";
  Real f(unit = "N") "Contact force";
  Boolean contact(start = false) "Whether the carts touch";
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
  annotation(experiment(StopTime = 2, Interval = 0.01));
end CollidingCarts;
