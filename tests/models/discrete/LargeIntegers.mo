// Rounding functions tell large values from their neighbours.
//
// expect: tenMillion.i at 0.55 = 10000005 within 0
// expect: tenMillion.n at 0.95 = 9 within 0
// expect: doubled.n at 0.95 = 512 within 0
// expect: fromAJump.w at 1 = 2.5 within 1e-6
// expect: fromAJump.i at 0.9 = 5 within 0

model LargeIntegers
  model TenMillion
    Real x(start = 1e7, fixed = true);
    Integer i = integer(x);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = 10;
    when change(i) then
      n = pre(n) + 1;
    end when;
  end TenMillion;

  model Doubled
    Integer n(start = 1, fixed = true);
  equation
    when sample(0.1, 0.1) then
      n = 2*pre(n);
    end when;
  end Doubled;

  model FromAJump
    Real x(start = 0, fixed = true);
    Integer i = integer(x);
    Real w(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(w) = i;
    when time >= 0.5 then
      reinit(x, 5.25);
    end when;
  end FromAJump;

  TenMillion tenMillion;
  Doubled doubled;
  FromAJump fromAJump;
  annotation(experiment(StopTime = 1, Interval = 0.01));
end LargeIntegers;
