// unit: stop 4
// unit: input n 0:1 0.5:2 1.5:3 2.5:-1
// unit: input b 0:0 1.0:1 2.0:0 3.0:1
model DiscreteOnly
  input Integer n;
  input Boolean b;
  output Integer sum(start = 0, fixed = true);
  output Integer last(start = 0, fixed = true);
equation
  when b then sum = pre(sum) + n; end when;
  when change(n) then last = pre(n); end when;
end DiscreteOnly;
