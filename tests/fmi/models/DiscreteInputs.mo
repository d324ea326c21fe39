// unit: stop 4
// unit: input b 0:0 0.5:1 1.0:0 2.0:1 3.0:0
// unit: input n 0:1 0.5:2 1.5:3 2.5:-1
model DiscreteInputs
  input Boolean b;
  input Integer n;
  output Integer m;
  output Boolean c;
  Real w1(start = 2), w2(start = -1), tau;
equation
  der(w1) = n - tau;
  2*der(w2) = tau;
  if b then w1 = w2; else tau = 0; end if;
  m = if b then 2*n else -n;
  c = not b and w1 > w2;
end DiscreteInputs;
