// unit: stop 6
model StateMachineByWhen
  Integer s(start = 1, fixed = true);
  Real x(start = 0, fixed = true);
  discrete Real since(start = 0, fixed = true);
equation
  when pre(s) == 1 and x > 1 then s = 2; since = time;
  elsewhen pre(s) == 2 and time > pre(since) + 0.5 then s = 3; since = time;
  elsewhen pre(s) == 3 and x < 0.1 then s = 1; since = time;
  end when;
  der(x) = if s == 1 then 2 - x else if s == 2 then 0 else -3*x;
end StateMachineByWhen;
