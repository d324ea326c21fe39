// A condition inside another drives x back to -0.26 from both sides, from t = 0.53 on.
//
// expect: fails E0603 at 0.53 within 2e-3

model NestedChatters
  Real x(start = -0.79, fixed = true);
  Real v(start = -0.49, fixed = true);
equation
  der(x) = if (if abs(x) > 0.26 then tanh(v) else 1) > 0 then -1 else 1;
  der(v) = -0.1*v;
  annotation(experiment(StopTime = 2));
end NestedChatters;
