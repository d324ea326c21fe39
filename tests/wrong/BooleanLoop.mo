// run: error[E0606]: the discrete variables `a`, `b` depend on each other
// run: a = not b;
// run: use `pre(…)` where the value before the event is meant
// fix: `b = a;` -> `b = time > 0.5 and not pre(a);`
model BooleanLoop "A Boolean defined by its own negation"
  Real x(start = 1, fixed = true);
  Boolean a, b;
equation
  a = not b;
  b = a;
  der(x) = if a then 1 else -1;
end BooleanLoop;
