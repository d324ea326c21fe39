// saltus simulate HangNestedChattering.mo --stop 2         (ulimit -t 5)
// Expected: E0603 (chattering of abs(x) > 0.26) soon after t = 0.53, as for `if x < -0.26 then 1 else -1`.
// Happens: no end after 20 s, 251252 events.
model HangNestedChattering
  Real x(start = -0.79, fixed = true);
  Real v(start = -0.49, fixed = true);
equation
  der(x) = if (if abs(x) > 0.26 then tanh(v) else 1) > 0 then -1 else 1;
  der(v) = -0.1*v;
end HangNestedChattering;
