// State machines: tables of ticks computed by hand, and those of chapter 17 of the specification.
//
package StateMachines
  partial model UpAndDown "0 1 2 3 4 3 2 1 0 1 …: up until i > 3, down until i < 1; transitions act at the next tick"
    inner Integer i(start = 0);
    block Up
      outer output Integer i;
    equation
      i = previous(i) + 1;
    end Up;
    block Down
      outer output Integer i;
    equation
      i = previous(i) - 1;
    end Down;
    Up s1;
    Down s2;
    Boolean tick = sample(true, Clock(1, 10));
  equation
    initialState(s1);
    transition(s1, s2, i > 3 and tick, immediate = false);
    transition(s2, s1, i < 1, immediate = false);
  end UpAndDown;
// model StateMachines.Down
// stop 0.75
// final i 0
// final s1.active 0
// final s2.active 1
// silent
  model Down
    extends UpAndDown;
  end Down;
// model StateMachines.UpAgain
// stop 0.85
// final i 1
// final s1.active 1
// final s2.active 0
  model UpAgain
    extends UpAndDown;
  end UpAgain;
// model StateMachines.Immediate
// stop 0.45
// final i 1
// final s2.active 1
  model Immediate "1 2 3 2 1 …: a condition on the tick before, and at once: at 0.3 i was 3"
    inner Integer i(start = 0);
    block Up
      outer output Integer i;
    equation
      i = previous(i) + 1;
    end Up;
    block Down
      outer output Integer i;
    equation
      i = previous(i) - 1;
    end Down;
    Up s1;
    Down s2;
    Boolean tick = sample(true, Clock(1, 10));
  equation
    initialState(s1);
    transition(s1, s2, previous(i) >= 3 and tick);
    transition(s2, s1, previous(i) <= 0);
  end Immediate;
// model StateMachines.Priorities
// stop 0.15
// final low.active 0
// final high.active 1
  model Priorities "of two transitions the one with the smaller number"
    block State
    end State;
    State first, low, high;
    Boolean tick = sample(true, Clock(1, 10));
  equation
    initialState(first);
    transition(first, low, tick, priority = 2);
    transition(first, high, tick, priority = 1);
  end Priorities;
  partial model Counting "A1 is active at 10, 11, 12, 13, 14 ms"
    block State
    end State;
    State A0, A1, A2;
  equation
    initialState(A0);
    transition(A0, A1, sample(time, Clock(1, 1000)) > 0.0095);
    transition(A1, A2, ticksInState() >= 5, immediate = false);
  end Counting;
// model StateMachines.StillCounting
// stop 0.0145
// final A1.active 1
  model StillCounting
    extends Counting;
  end StillCounting;
// model StateMachines.Counted
// stop 0.0155
// final A1.active 0
// final A2.active 1
  model Counted
    extends Counting;
  end Counted;
// model StateMachines.Waiting
// stop 1
// final on 3
// final off 8
  model Waiting "a state counts how often it is active: 0, 0.1 and 0.2 s, then off for good"
    inner Integer on(start = 0), off(start = 0);
    block On
      outer output Integer on;
    equation
      on = previous(on) + 1;
    end On;
    block Off
      outer output Integer off;
    equation
      off = previous(off) + 1;
    end Off;
    On a;
    Off b;
    Boolean tick = sample(true, Clock(1, 10));
  equation
    initialState(a);
    transition(a, b, timeInState() > 0.15 and tick, immediate = false);
  end Waiting;
// model StateMachines.Reset
// stop 0.55
// final n 2
// final m 4
  model Reset "with reset a state starts anew; without it goes on where it was: both are left every second tick"
    block Counter
      Integer k(start = 0);
    equation
      k = previous(k) + 1;
    end Counter;
    Counter a, b, c, d;
    Boolean tick = sample(true, Clock(1, 10));
    Integer n(start = 0) = a.k, m(start = 0) = c.k;
  equation
    initialState(a);
    transition(a, b, ticksInState() >= 2 and tick, immediate = false);
    transition(b, a, true, immediate = false, reset = true);
    initialState(c);
    transition(c, d, ticksInState() >= 2 and tick, immediate = false);
    transition(d, c, true, immediate = false, reset = false);
  end Reset;
  partial model Parts "of the hierarchical and parallel machine of 17.3.7"
    inner Integer v(start = 0);
    State1 state1;
    State2 state2;
    block State1
      inner Integer count(start = 0);
      inner outer output Integer v;
      block StateA
        outer output Integer v;
      equation
        v = previous(v) + 2;
      end StateA;
      StateA stateA;
      block StateB
        outer output Integer v;
      equation
        v = previous(v) - 1;
      end StateB;
      StateB stateB;
      block StateC
        outer output Integer count;
      equation
        count = previous(count) + 1;
      end StateC;
      StateC stateC;
      block StateD
      end StateD;
      StateD stateD;
      block StateX
        outer input Integer v;
        Integer i(start = 0);
        Integer w(start = 0);
      equation
        i = previous(i) + 1;
        w = v;
      end StateX;
      StateX stateX;
      block StateY
        Integer j(start = 0);
      equation
        j = previous(j) + 1;
      end StateY;
      StateY stateY;
    equation
      initialState(stateA);
      transition(stateA, stateB, v >= 6, immediate = false);
      transition(stateB, stateC, v == 0, immediate = false);
      transition(stateC, stateA, true, immediate = false, priority = 2);
      transition(stateC, stateD, count >= 2, immediate = false);
      initialState(stateX);
      transition(stateX, stateY, stateX.i > 20, immediate = false, reset = false);
    end State1;
    block State2
      outer output Integer v;
    equation
      v = previous(v) + 5;
    end State2;
  equation
    initialState(state1);
    transition(state2, state1, v >= 20, immediate = false);
  end Parts;
// model StateMachines.Hierarchical
// stop 26.5
// final v 22
// final state1.count 0
// final state1.stateX.i 1
// final state1.stateY.j 1
  model Hierarchical
    extends Parts;
  equation
    transition(state1, state2, activeState(state1.stateD) and activeState(state1.stateY), immediate = false);
  end Hierarchical;
// model StateMachines.HierarchicalLater
// stop 59.5
// final v 0
// final state1.v 0
// final state1.count 2
// final state1.stateX.i 21
// final state1.stateX.w 2
// final state1.stateY.j 13
  model HierarchicalLater
    extends Parts;
  equation
    transition(state1, state2, activeState(state1.stateD) and activeState(state1.stateY), immediate = false);
  end HierarchicalLater;
// model StateMachines.Synchronized
// stop 26.5
// final v 22
// final state1.stateY.j 1
  model Synchronized "the same, left when all machines in it have come to an end"
    extends Parts;
  equation
    transition(state1, state2, true, immediate = false, synchronize = true);
  end Synchronized;
// model StateMachines.Alone
// stop 0.35
// final s.n 4
  model Alone "a state that is never left"
    block S
      Integer n(start = 0);
    equation
      n = previous(n) + sample(1, Clock(1, 10));
    end S;
    S s;
  equation
    initialState(s);
  end Alone;
// model StateMachines.NoInitialState
// refused E0407 no initial state
  model NoInitialState
    block State
    end State;
    State a, b;
  equation
    transition(a, b, sample(true, Clock(1, 10)));
  end NoInitialState;
// model StateMachines.TwoInitialStates
// refused E0407 two initial states
  model TwoInitialStates
    block State
    end State;
    State a, b;
  equation
    initialState(a);
    initialState(b);
    transition(a, b, sample(true, Clock(1, 10)));
  end TwoInitialStates;
// model StateMachines.SamePriority
// refused E0407 the same priority
  model SamePriority
    block State
    end State;
    State a, b, c;
  equation
    initialState(a);
    transition(a, b, sample(true, Clock(1, 10)));
    transition(a, c, true);
  end SamePriority;
// model StateMachines.BothActive
// refused E0407 in states that may be active at once
  model BothActive
    block S
      outer output Integer n;
    equation
      n = sample(1, Clock(1, 10));
    end S;
    S a, b;
    inner Integer n(start = 0);
  equation
    initialState(a);
    initialState(b);
  end BothActive;
// model StateMachines.NoState
// refused E0407 is no state
  model NoState
    block State
    end State;
    State a, b;
    Boolean active = activeState(b) and sample(true, Clock(1, 10));
  equation
    initialState(a);
  end NoState;
end StateMachines;
