// `initial()` holds at the first instant of the start only; the event iteration goes on without it.
//
// y follows s one instant later, so the change of y at the start happens after `initial()`: the clause acts a second
// time at t = 0 and sets the alarm at 0.3.
//
// run: stop = 1
// expect: y at 0 = 2 within 0
// expect: count at 0 = 2 within 0
// expect: alarm at 0 = 0.3 within 1e-12
// expect: event at 0.3 within 1e-9
// expect: out at 0.3- = 1 within 0
// expect: out at 0.3+ = 2 within 0

model EventIteration "A change at the start is seen by a clause that excludes initial()"
  Integer s(start = 1, fixed = true) = 2;
  Integer y(start = 1, fixed = true) = pre(s);
  Integer out(start = 1, fixed = true);
  Integer count(start = 0, fixed = true);
  discrete Real alarm(start = 10, fixed = true);
algorithm
  when {initial(), change(y) and not initial()} then
    count := pre(count) + 1;
    alarm := if y == 1 then 10 else time + 0.3;
  elsewhen time >= alarm then
    out := y;
  end when;
end EventIteration;
