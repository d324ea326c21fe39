within Saltus;
package Fmi "Units of other tools (FMUs) as components"
  class Unit "A functional mock-up unit"
    extends ExternalObject;

    function constructor "Names a unit"
      input String file "The unit; a relative path begins at the file with this text";
      input Boolean coSimulation = false "Whether the unit integrates by itself";
      output Unit unit "The unit";
      external "FMI" unit = open(file, coSimulation);
      annotation(Documentation(info = "<html>
<p>Opens nothing yet: the unit is loaded when a run that may do so begins.</p>
</html>"));
    end constructor;

    function destructor "Forgets it"
      input Unit unit "The unit";
      external "FMI" close(unit);
      annotation(Documentation(info = "<html>
<p>The unit is let go when the run ends.</p>
</html>"));
    end destructor;
    annotation(Documentation(info = "<html>
<p>Names a unit of another tool. Each run, and each thread, has an instance of its own.</p>
</html>"));
  end Unit;

  function start "The state of a unit at the start"
    input Unit unit "The unit";
    input Real t "Time";
    input String names[:] = fill("", 0) "Variables that are set";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "What they are set to";
    output Real state "State of the unit";
    external "FMI" state = start(unit, t, names, values);
    annotation(Documentation(info = "<html>
<p>Instantiates the unit, sets the variables that are named and leaves initialisation.</p>
</html>"));
  end start;

  function event "The state of a unit behind an event"
    input Unit unit "The unit";
    input Real state "Before the event";
    input Real t "Time";
    input String names[:] = fill("", 0) "Variables that are set";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "What they are set to";
    input Boolean positive[:] = fill(false, 0) "Which event indicators are positive behind the event";
    output Real after "State of the unit afterwards";
    external "FMI" after = event(unit, state, t, names, values, positive);
    annotation(Documentation(info = "<html>
<p>Lets the unit do what it does at an event, from the state before it.</p>
</html>"));
  end event;

  function step "The state of a unit that integrates by itself, at the end of a step"
    input Unit unit "The unit";
    input Real state "At the beginning";
    input Real t "Time at the beginning";
    input Real h "How long the step is; it may end earlier, at an event";
    input String names[:] = fill("", 0) "Inputs";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values during the step";
    output Real after "State of the unit afterwards";
    external "FMI" after = step(unit, state, t, h, names, values);
    annotation(Documentation(info = "<html>
<p>Lets the unit integrate by itself over a communication step.</p>
</html>"));
  end step;

  function next "When a unit has its next event, or where its last step ended"
    input Unit unit "The unit";
    input Real state "State of the unit";
    output Real t "Time";
    external "FMI" t = next(unit, state);
    annotation(Documentation(info = "<html>
<p>Infinite where the unit announces no event.</p>
</html>"));
  end next;

  function ended "Whether a unit asks to end the run"
    input Unit unit "The unit";
    input Real state "State of the unit";
    output Boolean value "Its value";
    external "FMI" value = ended(unit, state);
    annotation(Documentation(info = "<html>
<p>Becomes true when the unit wants the simulation to end.</p>
</html>"));
  end ended;

  function get "A variable of a unit"
    input Unit unit "The unit";
    input Real state "State of the unit";
    input Real t "Time";
    input String name "The variable";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Real value "Its value";
    external "FMI" value = get(unit, state, t, name, names, values);
    annotation(Documentation(info = "<html>
<p>Read at a state of the unit, a time and values of its states and inputs.</p>
</html>"));
  end get;

  function getInteger "An Integer variable of a unit"
    input Unit unit "The unit";
    input Real state "State of the unit";
    input Real t "Time";
    input String name "The variable";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Integer value "Its value";
    external "FMI" value = getInteger(unit, state, t, name, names, values);
    annotation(Documentation(info = "<html>
<p>Read as <code>get</code> reads Reals; enumerations are their ordinals.</p>
</html>"));
  end getInteger;

  function getBoolean "A Boolean variable of a unit"
    input Unit unit "The unit";
    input Real state "State of the unit";
    input Real t "Time";
    input String name "The variable";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Boolean value "Its value";
    external "FMI" value = getBoolean(unit, state, t, name, names, values);
    annotation(Documentation(info = "<html>
<p>Read as <code>get</code> reads Reals.</p>
</html>"));
  end getBoolean;

  function indicator "An event indicator of a unit"
    input Unit unit "The unit";
    input Real state "State of the unit";
    input Real t "Time";
    input Integer number "Counted from 1";
    input String names[:] = fill("", 0) "States and inputs that it depends on";
    input Real values[size(names, 1)] = fill(0.0, size(names, 1)) "Their values";
    output Real value "Its value";
    external "FMI" value = indicator(unit, state, t, number, names, values);
    annotation(Documentation(info = "<html>
<p>The unit has an event where an indicator changes its sign.</p>
</html>"));
  end indicator;
  annotation(Documentation(info = "<html>
<p>What <code>saltus fmu import</code> writes models with. The code of a unit runs only where that is allowed
(<code>--allow-fmu</code>).</p>
<p>What a unit keeps inside of it from event to event is a number here, the state. Everything else is a function of it, of
time, and of the variables that are named.</p>
</html>"));
end Fmi;
