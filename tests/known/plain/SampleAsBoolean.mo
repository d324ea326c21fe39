// MLS 3.7.5.1: sample is true in the FIRST event iteration of its instants only and false in those after it. So at each of the 4 ticks: s rises (n), in the second iteration s falls, `not s` becomes true (k), change(s) has been true and is false in the third (c). Expected at t = 1.1: n = 4, k = 4, c = 4, m = 4.
// Now: status 0, n = 4, k = 0, c = 1, m = 0, no word. And `Integer p = if s then pre(p) + 1 else pre(p)` (expected 4) ends with E0605 "the event iteration does not end".
// Command: saltus simulate SampleAsBoolean.mo
model SampleAsBoolean
  Boolean s = sample(0.25, 0.25);
  Integer n(start = 0, fixed = true);
  Integer k(start = 0, fixed = true);
  Integer c(start = 0, fixed = true);
  Integer m(start = 0, fixed = true);
equation
  when s then
    n = pre(n) + 1;
  end when;
  when not s then
    k = pre(k) + 1;
  end when;
  when change(s) then
    c = pre(c) + 1;
  end when;
  when not sample(0.25, 0.25) then
    m = pre(m) + 1;
  end when;
  annotation(experiment(StopTime = 1.1));
end SampleAsBoolean;
