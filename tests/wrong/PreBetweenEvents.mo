// says: error[E0523]: `pre(x)` in an equation that holds between events
// fix: `y = pre(x);` -> `y = x;`
model PreBetweenEvents "The value before an event where there is none"
  Real x(start = 0, fixed = true), y;
equation
  der(x) = 1;
  y = pre(x);
end PreBetweenEvents;
