within Saltus;
package Fmi "Units of other tools (FMUs) as components"
  class Unit "A functional mock-up unit"
    extends ExternalObject;

    function constructor "Names a unit"
      input String file "The unit; a relative path begins at the file with this text";
      input Boolean coSimulation = false "Whether the unit integrates by itself";
      output Unit unit;
    external "FMI" unit = open(file, coSimulation);
    end constructor;

    function destructor "Forgets it"
      input Unit unit;
    external "FMI" close(unit);
    end destructor;
  end Unit;

  function start "The state of a unit at the start"
    input Unit unit;
    input Real t "Time";
    input String names[:] = fill("", 0) "Variables that are set";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "What they are set to";
    output Real state;
  external "FMI" state = start(unit, t, names, values);
  end start;

  function event "The state of a unit behind an event"
    input Unit unit;
    input Real state "Before the event";
    input Real t "Time";
    input String names[:] = fill("", 0) "Variables that are set";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "What they are set to";
    input Boolean positive[:] = fill(false, 0) "Which event indicators are positive behind the event";
    output Real after;
  external "FMI" after = event(unit, state, t, names, values, positive);
  end event;

  function step "The state of a unit that integrates by itself, at the end of a step"
    input Unit unit;
    input Real state "At the beginning";
    input Real t "Time at the beginning";
    input Real h "How long the step is; it may end earlier, at an event";
    input String names[:] = fill("", 0) "Inputs";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values during the step";
    output Real after;
  external "FMI" after = step(unit, state, t, h, names, values);
  end step;

  function next "When a unit has its next event, or where its last step ended"
    input Unit unit;
    input Real state;
    output Real t;
  external "FMI" t = next(unit, state);
  end next;

  function ended "Whether a unit asks to end the run"
    input Unit unit;
    input Real state;
    output Boolean value;
  external "FMI" value = ended(unit, state);
  end ended;

  function get "A variable of a unit"
    input Unit unit;
    input Real state;
    input Real t "Time";
    input String name "The variable";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Real value;
  external "FMI" value = get(unit, state, t, name, names, values);
  end get;

  function getInteger "An Integer variable of a unit"
    input Unit unit;
    input Real state;
    input Real t "Time";
    input String name "The variable";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Integer value;
  external "FMI" value = getInteger(unit, state, t, name, names, values);
  end getInteger;

  function getBoolean "A Boolean variable of a unit"
    input Unit unit;
    input Real state;
    input Real t "Time";
    input String name "The variable";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Boolean value;
  external "FMI" value = getBoolean(unit, state, t, name, names, values);
  end getBoolean;

  function indicator "An event indicator of a unit"
    input Unit unit;
    input Real state;
    input Real t "Time";
    input Integer number "Counted from 1";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Real value;
  external "FMI" value = indicator(unit, state, t, number, names, values);
  end indicator;
  annotation(Documentation(info = "<html>
<p>What <code>saltus fmu import</code> writes models with. The code of a unit runs only where that is allowed
(<code>--allow-fmu</code>).</p>
<p>What a unit keeps inside of it from event to event is a number here, the state. Everything else is a function of it, of
time, and of the variables that are named.</p>
</html>"));
end Fmi;
