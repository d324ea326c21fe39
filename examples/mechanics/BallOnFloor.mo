// A ball falls on a floor, does not rebound, and is later pulled up again.
//
// Contact is a complementarity: either there is a gap and no force, or a force and no gap. One variable s stands for
// both, and its sign decides the mode.
//
// What to look at: at the impact the velocity jumps to zero and f is an impulse; from t = 1.5 s on an upward pull
// grows, and the ball leaves the floor exactly when f would become negative, at t = 2 s.
//
// run: tolerance = 1e-9
// expect: event at 0.4515236409857309 within 1e-8
// expect: v at 0.4515236409857309+ = 0 within 1e-9
// expect: impulse f at 0.4515236409857309 = 4.429446918 within 1e-5
// expect: f at 1 = 9.81 within 1e-8
// expect: event at 2 within 1e-8
// expect: v at 3 = 9.81 within 1e-8
// expect: h at 3 = 3.27 within 1e-8
// expect: h >= -1e-7 always

model BallOnFloor "Ball and floor, impact without rebound"
  parameter Real m(unit = "kg") = 1 "Mass";
  parameter Real g(unit = "m/s2") = 9.81 "Gravity";
  Real h(unit = "m", start = 1, fixed = true) "Height";
  Real v(unit = "m/s", start = 0, fixed = true) "Velocity";
  Real f(unit = "N") "Force of the floor";
  Real pull(unit = "N") "Upward force";
  Real s "Height, or minus force";
  Boolean contact(start = false) "Whether the ball touches the floor";
equation
  pull = if time < 1.5 then 0 else 2*m*g*(time - 1.5);
  der(h) = v;
  m*der(v) = f + pull - m*g;
  contact = s <= 0;
  if contact then
    h = 0;
    s = -f;
  else
    f = 0;
    s = h;
  end if;
  annotation(experiment(StopTime = 3, Interval = 0.005));
end BallOnFloor;
