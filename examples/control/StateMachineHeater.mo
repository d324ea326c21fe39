// A heater that a state machine switches.
//
// The machine heats until it is warm enough, then waits at least 2 s and until it is cold, and heats again. After three rounds it
// is off for good. Heating is a state with a machine of its own: the first second at half power, then at full power.
//
// What to look at: the temperature rises and falls between its bounds three times; `heating.active`, `waiting.active` and
// `off.active` tell the state.
//
// run: tolerance = 1e-9
// expect: heating.active at 0.5 = 1 within 0
// expect: power at 0.5 = 0.5 within 0
// expect: power at 1.5 = 1 within 0
// expect: waiting.active at 6 = 1 within 0
// expect: rounds at 29.9 = 3 within 0
// expect: off.active at 29.9 = 1 within 0
// expect: T <= 3.2 always

model StateMachineHeater "A plant switched by a state machine"
  Real T(start = 0, fixed = true) "Temperature above the surroundings";
  Real seen "The temperature at the ticks";
  inner Real power(start = 0) "Power of the heater";
  inner Integer rounds(start = 0) "How often it was heated";
  Heating heating;
  Waiting waiting;
  Off off;

  block Heating "At half power first"
    inner outer output Real power;
    outer output Integer rounds;
    Gently gently;
    Fully fully;
    Boolean counted(start = false);
  equation
    counted = true;
    rounds = if previous(counted) then previous(rounds) else previous(rounds) + 1;
    initialState(gently);
    transition(gently, fully, ticksInState() >= 10, immediate = false);
  end Heating;
  block Gently
    outer output Real power;
  equation
    power = 0.5;
  end Gently;
  block Fully
    outer output Real power;
  equation
    power = 1;
  end Fully;
  block Waiting
    outer output Real power;
  equation
    power = 0;
  end Waiting;
  block Off
    outer output Real power;
  equation
    power = 0;
  end Off;
equation
  der(T) = hold(power) - 0.2*T;
  seen = sample(T, Clock(1, 10));
  initialState(heating);
  transition(heating, waiting, seen >= 3, immediate = false);
  transition(waiting, off, rounds >= 3, immediate = false, priority = 1);
  transition(waiting, heating, seen <= 2 and timeInState() >= 2, immediate = false, priority = 2);
  annotation(experiment(StopTime = 30));
end StateMachineHeater;
