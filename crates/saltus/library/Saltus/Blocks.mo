within Saltus;
package Blocks "Signals"
  package Interfaces "Connectors and partial blocks"
    connector RealInput = input Real "Real signal into a block";
    connector RealOutput = output Real "Real signal out of a block";
    connector BooleanInput = input Boolean "Boolean signal into a block";
    connector BooleanOutput = output Boolean "Boolean signal out of a block";

    partial block Source "Block with one Real output"
      RealOutput y "Output";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>One Real output.</p></html>"));
    end Source;

    partial block SISO "Block with one Real input and one Real output"
      RealInput u "Input";
      RealOutput y "Output";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>One Real input, one Real output.</p></html>"));
    end SISO;

    partial block MISO "Block with two Real inputs and one Real output"
      RealInput u1 "First input";
      RealInput u2 "Second input";
      RealOutput y "Output";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Two Real inputs, one Real output.</p></html>"));
    end MISO;

    partial block BooleanSource "Block with one Boolean output"
      BooleanOutput y "Output";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>One Boolean output.</p></html>"));
    end BooleanSource;

    partial block BooleanSISO "Block with one Boolean input and one Boolean output"
      BooleanInput u "Input";
      BooleanOutput y "Output";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>One Boolean input, one Boolean output.</p></html>"));
    end BooleanSISO;

    partial block BooleanMISO "Block with two Boolean inputs and one Boolean output"
      BooleanInput u1 "First input";
      BooleanInput u2 "Second input";
      BooleanOutput y "Output";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Two Boolean inputs, one Boolean output.</p></html>"));
    end BooleanMISO;
  end Interfaces;

  package Sources "Signals of time"
    block Constant "Constant"
      extends Interfaces.Source;
      parameter Real k = 1 "Value";
    equation
      y = k;
      annotation(Documentation(info = "<html><p>A signal that does not change.</p></html>"));
    end Constant;

    block Step "Step"
      extends Interfaces.Source;
      parameter Real offset = 0 "Value before the step";
      parameter Real height = 1 "Height of the step";
      parameter Units.Time startTime = 0 "Time of the step";
    equation
      y = offset + (if time < startTime then 0 else height);
      annotation(Documentation(info = "<html><p>A signal that jumps once.</p></html>"));
    end Step;

    block Ramp "Ramp"
      extends Interfaces.Source;
      parameter Real offset = 0 "Value before the ramp";
      parameter Real height = 1 "Height of the ramp";
      parameter Units.Time duration = 1 "Duration of the ramp";
      parameter Units.Time startTime = 0 "Start of the ramp";
    equation
      y = offset + (if time < startTime then 0 elseif time < startTime + duration then
        height*(time - startTime)/duration else height);
      annotation(Documentation(info = "<html><p>A signal that rises between two times.</p></html>"));
    end Ramp;

    block Sine "Sine"
      extends Interfaces.Source;
      parameter Real amplitude = 1 "Amplitude";
      parameter Units.Frequency f = 1 "Frequency";
      parameter Units.Angle phase = 0 "Phase at time 0";
      parameter Real offset = 0 "Mean value";
    equation
      y = offset + amplitude*sin(2*Units.pi*f*time + phase);
      annotation(Documentation(info = "<html><p>y = offset + amplitude sin(2 π f t + phase).</p></html>"));
    end Sine;

    block Pulse "Rectangular pulses"
      extends Interfaces.BooleanSource;
      parameter Units.Time period = 1 "Period";
      parameter Real width(unit = "1") = 0.5 "Fraction of the period with the value true";
      parameter Units.Time startTime = 0 "Start of the first pulse";
    protected
      discrete Units.Time t0(start = startTime, fixed = true) "Start of the current pulse";
      Boolean begin "Start of a pulse";
    equation
      begin = sample(startTime, period);
      when begin then
        t0 = time;
      end when;
      y = time >= startTime and time < t0 + width*period;
      annotation(Documentation(info = "<html><p>True at the beginning of every period. Events are at exact times.</p></html>"));
    end Pulse;

    block BooleanStep "Boolean step"
      extends Interfaces.BooleanSource;
      parameter Boolean before = false "Value before the step; afterwards the opposite";
      parameter Units.Time startTime = 0 "Time of the step";
    equation
      y = if time < startTime then before else not before;
      annotation(Documentation(info = "<html><p>A Boolean that changes once.</p></html>"));
    end BooleanStep;
    annotation(Documentation(info = "<html><p>Signals that depend on time only.</p></html>"));
  end Sources;

  package Math "Arithmetic"
    block Gain "Product with a constant"
      extends Interfaces.SISO;
      parameter Real k = 1 "Factor";
    equation
      y = k*u;
      annotation(Documentation(info = "<html><p>y = k u: the input, amplified.</p></html>"));
    end Gain;

    block Add "Weighted sum"
      extends Interfaces.MISO;
      parameter Real k1 = 1 "Factor of the first input";
      parameter Real k2 = 1 "Factor of the second input";
    equation
      y = k1*u1 + k2*u2;
      annotation(Documentation(info = "<html><p>y = k1 u1 + k2 u2.</p></html>"));
    end Add;

    block Feedback "Difference"
      extends Interfaces.MISO;
    equation
      y = u1 - u2;
      annotation(Documentation(info = "<html><p>y = u1 - u2.</p></html>"));
    end Feedback;

    block Product "Product of two signals"
      extends Interfaces.MISO;
    equation
      y = u1*u2;
      annotation(Documentation(info = "<html><p>y = u1 u2.</p></html>"));
    end Product;

    block Limiter "Limits a signal"
      extends Interfaces.SISO;
      parameter Real yMax = 1 "Upper limit";
      parameter Real yMin = -yMax "Lower limit";
    equation
      y = if u > yMax then yMax elseif u < yMin then yMin else u;
      annotation(Documentation(info = "<html><p>Cuts off what is beyond the limits.</p></html>"));
    end Limiter;

    block BooleanToReal "Number for a Boolean"
      Interfaces.BooleanInput u "Input";
      Interfaces.RealOutput y "Output";
      parameter Real yTrue = 1 "Value for true";
      parameter Real yFalse = 0 "Value for false";
    equation
      y = if u then yTrue else yFalse;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Two values, one for each value of the input.</p></html>"));
    end BooleanToReal;
    annotation(Documentation(info = "<html><p>Blocks without memory.</p></html>"));
  end Math;

  package Continuous "Blocks with continuous states"
    block Integrator "Integral"
      extends Interfaces.SISO(y(start = 0));
      parameter Real k = 1 "Gain";
    equation
      der(y) = k*u;
      annotation(Documentation(info = "<html><p>Starts at <code>y(start = …)</code>.</p></html>"));
    end Integrator;

    block LimitedIntegrator "Integral that stops at its limits"
      extends Interfaces.SISO(y(start = 0));
      parameter Real k = 1 "Gain";
      parameter Real yMax = 1 "Upper limit";
      parameter Real yMin = -yMax "Lower limit";
      Boolean high(start = false) "Whether the upper limit holds";
      Boolean low(start = false) "Whether the lower limit holds";
    protected
      Real rate "Rate the limit takes away";
      Real sHigh "Rate taken away at the upper limit, distance beyond it otherwise";
      Real sLow "Rate taken away at the lower limit, distance beyond it otherwise";
    equation
      der(y) = k*u - rate;
      high = sHigh > 0;
      low = sLow > 0;
      sHigh = if high then rate else y - yMax;
      sLow = if low then -rate else yMin - y;
      if high then
        y = yMax;
      elseif low then
        y = yMin;
      else
        rate = 0;
      end if;
      annotation(Documentation(info = "<html>
<p>At a limit the output is constant and no state; it leaves the limit at once when the input changes its sign.</p>
</html>"));
    end LimitedIntegrator;

    block FirstOrder "First-order lag"
      extends Interfaces.SISO(y(start = 0));
      parameter Real k = 1 "Gain";
      parameter Units.Time T = 1 "Time constant";
    equation
      T*der(y) = k*u - y;
      annotation(Documentation(info = "<html><p>T der(y) = k u - y. T may be zero.</p></html>"));
    end FirstOrder;

    block PID "PID controller with limits and anti-windup"
      Interfaces.RealInput reference "Reference";
      Interfaces.RealInput measured "Measured value";
      Interfaces.RealOutput y "Limited output";
      parameter Real k = 1 "Gain";
      parameter Units.Time Ti = 1 "Integral time";
      parameter Units.Time Td = 0 "Derivative time";
      parameter Real N = 10 "Bandwidth of the derivative: N/Td";
      parameter Real yMax = 1 "Upper limit";
      parameter Real yMin = -yMax "Lower limit";
      Real e "Control error";
      Real I(start = 0) "Integral part";
      Real x(start = 0) "Filtered error";
      Real D "Derivative part";
      Real v "Output before the limits";
      Boolean windup(start = false) "Whether the integral is held because the output is at a limit";
    equation
      e = reference - measured;
      if Td > 0 then
        Td/N*der(x) = e - x;
        D = N*(e - x);
      else
        x = e;
        D = 0;
      end if;
      v = k*(e + I + D);
      y = if v > yMax then yMax elseif v < yMin then yMin else v;
      windup = v > yMax and e > 0 or v < yMin and e < 0;
      Ti*der(I) = if windup then 0 else e;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html>
<p>The integral is held while the output is at a limit and the error would drive it further.</p>
</html>"));
    end PID;
    annotation(Documentation(info = "<html><p>Blocks described by differential equations.</p></html>"));
  end Continuous;

  package Discrete "Sampled blocks"
    block ZeroOrderHold "Sample and hold"
      extends Interfaces.SISO;
      parameter Units.Time period = 0.1 "Sampling period";
      parameter Units.Time startTime = 0 "First sample";
    protected
      discrete Real held(start = 0, fixed = true) "Last sample";
    equation
      when sample(startTime, period) then
        held = u;
      end when;
      y = held;
      annotation(Documentation(info = "<html><p>Output is the input at the last sample.</p></html>"));
    end ZeroOrderHold;

    block UnitDelay "Input at the sample before"
      extends Interfaces.SISO;
      parameter Units.Time period = 0.1 "Sampling period";
      parameter Units.Time startTime = 0 "First sample";
    protected
      discrete Real x(start = 0, fixed = true) "Input at the last sample";
      discrete Real held(start = 0, fixed = true) "Input at the sample before";
    equation
      when sample(startTime, period) then
        x = u;
        held = pre(x);
      end when;
      y = held;
      annotation(Documentation(info = "<html><p>Delays a sampled signal by one period.</p></html>"));
    end UnitDelay;

    block SampledPI "Sampled PI controller"
      Interfaces.RealInput reference "Reference";
      Interfaces.RealInput measured "Measured value";
      Interfaces.RealOutput y "Output, held between samples";
      parameter Units.Time period = 0.1 "Sampling period";
      parameter Real k = 1 "Gain";
      parameter Units.Time Ti = 1 "Integral time";
      parameter Real yMax = 1e6 "Upper limit";
      parameter Real yMin = -yMax "Lower limit";
    protected
      discrete Real x(start = 0, fixed = true) "Integral of the error";
      discrete Real held(start = 0, fixed = true) "Output at the last sample";
    equation
      when sample(0, period) then
        x = pre(x) + (if held >= yMax or held <= yMin then 0 else period/Ti*(reference - measured));
        held = min(yMax, max(yMin, k*(reference - measured + pre(x))));
      end when;
      y = held;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>The integral is held while the output is at a limit.</p></html>"));
    end SampledPI;
    annotation(Documentation(info = "<html><p>Blocks that act at sampling instants.</p></html>"));
  end Discrete;

  package Logical "Boolean blocks and state logic"
    block Not "Negation"
      extends Interfaces.BooleanSISO;
    equation
      y = not u;
      annotation(Documentation(info = "<html><p>y = not u.</p></html>"));
    end Not;

    block And "Conjunction"
      extends Interfaces.BooleanMISO;
    equation
      y = u1 and u2;
      annotation(Documentation(info = "<html><p>y = u1 and u2.</p></html>"));
    end And;

    block Or "Disjunction"
      extends Interfaces.BooleanMISO;
    equation
      y = u1 or u2;
      annotation(Documentation(info = "<html><p>y = u1 or u2.</p></html>"));
    end Or;

    block GreaterThreshold "Comparison with a constant"
      Interfaces.RealInput u "Input";
      Interfaces.BooleanOutput y "Output";
      parameter Real threshold = 0 "Threshold";
    equation
      y = u > threshold;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>y = u &gt; threshold.</p></html>"));
    end GreaterThreshold;

    block Hysteresis "Comparison with hysteresis"
      Interfaces.RealInput u "Input";
      Interfaces.BooleanOutput y(start = yStart, fixed = true) "Output";
      parameter Real uLow = 0 "Becomes false below";
      parameter Real uHigh = 1 "Becomes true above";
      parameter Boolean yStart = false "Value at the start, between the limits";
    equation
      y = u > uHigh or pre(y) and u >= uLow;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Keeps its value while the input is between the limits.</p></html>"));
    end Hysteresis;

    block Latch "Set-reset memory"
      Interfaces.BooleanInput set "Sets the output";
      Interfaces.BooleanInput reset "Resets the output, and wins";
      Interfaces.BooleanOutput y(start = false, fixed = true) "Output";
    equation
      y = (set or pre(y)) and not reset;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Keeps its value until the other input becomes true.</p></html>"));
    end Latch;

    block OnDelay "Delays a rising edge"
      extends Interfaces.BooleanSISO;
      parameter Units.Time delayTime = 1 "Delay";
    protected
      discrete Units.Time t0(start = 0, fixed = true) "Time of the last rising edge";
    equation
      when u then
        t0 = time;
      end when;
      y = u and time >= t0 + delayTime;
      annotation(Documentation(info = "<html>
<p>True when the input has been true for the delay time; false at once when the input is.</p>
</html>"));
    end OnDelay;

    block Sequence "Steps that follow one another"
      parameter Integer n(min = 1) = 2 "Number of steps";
      Interfaces.BooleanInput advance "A rising edge goes to the next step";
      Interfaces.BooleanOutput active[n] "Which step is active";
      Integer step(start = 1, fixed = true) "Number of the active step";
    equation
      when advance then
        step = if pre(step) < n then pre(step) + 1 else 1;
      end when;
      for k in 1:n loop
        active[k] = pre(step) == k;
      end for;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>A sequential controller: each rising edge of the input activates the next step; after the
last one the first follows. The outputs change one event iteration after the step, so that they may
feed the logic that advances the sequence.</p></html>"));
    end Sequence;
    annotation(Documentation(info = "<html><p>Logic, with and without memory.</p></html>"));
  end Logical;
  annotation(Documentation(info = "<html>
<p>Signal blocks. The connectors have the same contents as those of <code>Modelica.Blocks.Interfaces</code>.</p>
</html>"));
end Blocks;
