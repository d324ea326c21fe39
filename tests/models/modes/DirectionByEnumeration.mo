// A block of 2 kg slides against a wall, with friction of 1 N whose direction is an enumeration, and is pushed on with 3 N. In the
// mode in which it stands at the wall, how wall and friction share the load is not determined; in the other modes with the wall
// it is. It comes to the wall where 1 - 2*t - t^2/2 = 0, with der(v) = -1.
//
// expect: event at 0.4494897427831781 within 1e-6
// expect: x at 0.2 = 0.58 within 1e-6
// expect: x at 2 = 0 within 1e-6
// expect: v at 2 = 0 within 1e-6

model DirectionByEnumeration
  type Direction = enumeration(back, stick, forth);
  Real x(start = 1, fixed = true), v(start = -2, fixed = true), h, s, f, z;
  Boolean c, fw(start = false), bw(start = false);
  Direction direction;
equation
  der(x) = v;
  2*der(v) = f - h - 3;
  c = z > 0;
  0 = if c then x else f;
  z = if c then f else -x;
  fw = s > 1;
  bw = s < -1;
  direction = if fw then Direction.forth elseif bw then Direction.back else Direction.stick;
  if direction == Direction.forth then
    v = s - 1;
    h = 1;
  elseif direction == Direction.back then
    v = s + 1;
    h = -1;
  else
    v = 0;
    h = s;
  end if;
  annotation(experiment(StopTime = 2, Interval = 0.1));
end DirectionByEnumeration;
