// unit: stop 4
// unit: input close 0:1 0.5:0 1.0:1 2.0:0 3.0:1
model ClosedByInput
  input Boolean close;
  Real w1(start = 3), w2(start = 0), w3(start = 1), t, t3;
equation
  der(w1) = sin(time) - t;
  2*der(w2) = t - t3;
  3*der(w3) = t3;
  if close then w1 = 2*w2; else t = 0; end if;
  if w2 > w3 or not close then t3 = 0.3*(w2 - w3); else t3 = 0; end if;
end ClosedByInput;
