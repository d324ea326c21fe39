// An impact engages a clutch at the same instant: by a latch, by an assignment, and (turn) by every other impact.
//
// The speeds become equal at the instant of the impact, (1*3 + 2*(-1))/3; nothing of the impact acts on the shafts.
//
// run: tolerance = 1e-10
// run: stop = 1.2
// expect: event at 0.45152364098573094 within 1e-9
// expect: v at 0.45152364098573094+ = 2.6576681508420115 within 1e-8
// expect: w1 at 0.45152364098573094+ = 0.3333333333333333 within 1e-9
// expect: w2 at 0.45152364098573094+ = 0.3333333333333333 within 1e-9
// expect: w3 at 0.45152364098573094+ = 0.3333333333333333 within 1e-9
// expect: impulse t at 0.45152364098573094 = 2.6666666666666665 within 1e-8
// expect: conserved w1 + 2*w2 within 1e-9
// expect: a at 0.7 = 1 within 1e-9
// expect: b at 0.7 = 1 within 1e-9
// expect: turn at 0.7 = 1 within 1e-9
// expect: turn at 1.1 = 0 within 1e-9
// expect: v at 0.99335201016860804+ = 1.594600890505207 within 1e-8

model ImpactEngagesClutch
  Real x(start = 1, fixed = true);
  Real v(start = 0, fixed = true);
  Real f;
  Real w1(start = 3, fixed = true);
  Real w2(start = -1, fixed = true);
  Real w3(start = 3, fixed = true);
  Real w4(start = -1, fixed = true);
  Real t;
  Real t2;
  Boolean contact(start = false);
  Boolean a(start = false, fixed = true);
  Boolean b(start = false, fixed = true);
  Boolean turn(start = false, fixed = true);
equation
  der(x) = v;
  der(v) = f - 9.81;
  der(w1) = -t;
  2*der(w2) = t;
  der(w3) = -t2;
  2*der(w4) = t2;
  contact = x <= 0;
  a = pre(a) or contact;
  turn = if contact then not pre(turn) else pre(turn);
  if not contact then
    f = 0;
  end if;
  if a then
    w1 = w2;
  else
    t = 0;
  end if;
  if b then
    w3 = w4;
  else
    t2 = 0;
  end if;
  when contact then
    v = -0.6*pre(v);
    b = true;
  end when;
  annotation(experiment(StopTime = 1.2, Interval = 0.1));
end ImpactEngagesClutch;
