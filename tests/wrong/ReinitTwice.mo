// says: error[E0522]: a second `reinit` of `x`
// says: the first is here
// fix: `reinit(x, 0); end when;` -> `reinit(x, 0);`
// fix: `when time > 0.8 then` -> `elsewhen time > 0.8 then`
model ReinitTwice "A state that two when-equations set"
  Real x(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then
    reinit(x, 0); end when;
  when time > 0.8 then
    reinit(x, -1);
  end when;
end ReinitTwice;
