// says: error[E0509]: `ReinitOfAlgebraic`: the change when `x <= 0` becomes true cannot be carried out
// says: `f` is no state in the mode entered
// run: error[E0602]
// stop: 1
// run: `f` is no state in the mode entered
// fix: `reinit(f, 100);` -> `reinit(v, -0.5*pre(v));`
model ReinitOfAlgebraic "reinit of a force"
  Real x(start = 1, fixed = true), v(start = 0, fixed = true), f;
equation
  der(x) = v;
  der(v) = f;
  f = -9.81;
  when x <= 0 then
    reinit(f, 100);
  end when;
end ReinitOfAlgebraic;
