// MLS 17: conditions of immediate transitions that read what the state computes need previous(); refusing is right.
// Now: E0533 names `$machine 0 immediate`, `$machine 0 fired`, `a.$reset` (internal text) instead of saying "the immediate transition from a to b reads a.n".
// Command: saltus simulate StateMachineCircleMessage.mo --stop 1
model StateMachineCircleMessage
  model A
    Integer n(start = 0);
  equation
    n = previous(n) + 1;
  end A;
  A a;
  A b;
equation
  initialState(a);
  transition(a, b, a.n >= 3);
  transition(b, a, b.n >= 2);
  annotation(experiment(StopTime = 10));
end StateMachineCircleMessage;
