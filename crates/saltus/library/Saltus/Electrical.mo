within Saltus;
package Electrical "Circuits with ideal switching elements"
  package Interfaces "Connectors and partial models"
    connector Pin "Electrical pin"
      Units.Voltage v "Potential";
      flow Units.Current i "Current into the component";
      annotation(Documentation(info = "<html>
<p>Same contents as <code>Modelica.Electrical.Analog.Interfaces.Pin</code>; the two can be connected.</p>
</html>"));
    end Pin;

    partial model TwoPin "Component with two pins and one current"
      Pin p "Positive pin";
      Pin n "Negative pin";
      Units.Voltage v "Voltage from p to n";
      Units.Current i "Current from p to n";
    equation
      v = p.v - n.v;
      i = p.i;
      p.i + n.i = 0;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Voltage, current and Kirchhoff's current law of a component with two pins.</p></html>"));
    end TwoPin;
  end Interfaces;

  model Ground "Zero potential"
    Interfaces.Pin p "Pin at zero potential";
  equation
    p.v = 0;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Every circuit needs at least one ground.</p></html>"));
  end Ground;

  model Resistor "Linear resistor"
    extends Interfaces.TwoPin;
    parameter Units.Resistance R = 1 "Resistance";
  equation
    v = R*i;
    annotation(Documentation(info = "<html><p>v = R i. R may be zero.</p></html>"));
  end Resistor;

  model Capacitor "Linear capacitor"
    extends Interfaces.TwoPin(v(start = 0));
    parameter Units.Capacitance C = 1 "Capacitance";
  equation
    C*der(v) = i;
    annotation(Documentation(info = "<html>
<p>The voltage at the start is <code>v(start = …)</code>. When capacitors with different voltages are connected by an
ideal switch, the voltages jump so that charge is conserved, and the current is an impulse.</p>
</html>"));
  end Capacitor;

  model Inductor "Linear inductor"
    extends Interfaces.TwoPin(i(start = 0));
    parameter Units.Inductance L = 1 "Inductance";
  equation
    v = L*der(i);
    annotation(Documentation(info = "<html>
<p>The current at the start is <code>i(start = …)</code>. When an ideal switch leaves the current no path, the current
jumps to zero and the voltage is an impulse; the run reports its weight.</p>
</html>"));
  end Inductor;

  model IdealTransformer "Transformer without losses or magnetising current"
    Interfaces.Pin p1 "Primary, positive";
    Interfaces.Pin n1 "Primary, negative";
    Interfaces.Pin p2 "Secondary, positive";
    Interfaces.Pin n2 "Secondary, negative";
    parameter Real n(unit = "1") = 1 "Turns ratio, primary to secondary";
    Units.Voltage v1 "Primary voltage";
    Units.Voltage v2 "Secondary voltage";
    Units.Current i1 "Primary current";
    Units.Current i2 "Secondary current";
  equation
    v1 = p1.v - n1.v;
    v2 = p2.v - n2.v;
    i1 = p1.i;
    i2 = p2.i;
    p1.i + n1.i = 0;
    p2.i + n2.i = 0;
    v1 = n*v2;
    i2 = -n*i1;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>v1 = n v2 and i2 = -n i1, also for direct current.</p></html>"));
  end IdealTransformer;

  model IdealDiode "Diode without forward voltage or leakage"
    extends Interfaces.TwoPin;
    Boolean off(start = true) "Whether the diode blocks";
    Real s(unit = "1") "Current in ampere when conducting, voltage in volt when blocking";
  protected
    constant Units.Voltage oneVolt = 1;
    constant Units.Current oneAmpere = 1;
  equation
    off = s < 0;
    if off then
      v = s*oneVolt;
      i = 0;
    else
      v = 0;
      i = s*oneAmpere;
    end if;
    annotation(Documentation(info = "<html>
<p>Exactly zero voltage when conducting, exactly zero current when blocking. The number of states of a circuit may
change with its diodes: a diode in series with an inductor takes the inductor's current away as a state while it
blocks.</p>
</html>"));
  end IdealDiode;

  model IdealThyristor "Thyristor without forward voltage or leakage"
    extends Interfaces.TwoPin;
    Blocks.Interfaces.BooleanInput fire "Gate signal";
    Boolean off(start = true) "Whether the thyristor blocks";
    Real s(unit = "1") "Current in ampere when conducting, voltage in volt when blocking";
  protected
    constant Units.Voltage oneVolt = 1;
    constant Units.Current oneAmpere = 1;
  equation
    off = s < 0 or pre(off) and not fire;
    if off then
      v = s*oneVolt;
      i = 0;
    else
      v = 0;
      i = s*oneAmpere;
    end if;
    annotation(Documentation(info = "<html>
<p>Starts to conduct when it is fired with a positive voltage, and conducts until the current would become
negative.</p>
</html>"));
  end IdealThyristor;

  model IdealSwitch "Switch without resistance or leakage"
    extends Interfaces.TwoPin;
    Blocks.Interfaces.BooleanInput close "Whether the switch is closed";
  equation
    if close then
      v = 0;
    else
      i = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>Exactly zero voltage when closed, exactly zero current when open. Closing it across a charged capacitor, or opening
it in series with an inductor, makes an impulse.</p>
</html>"));
  end IdealSwitch;

  model IdealOpAmp "Operational amplifier with unlimited gain"
    Interfaces.Pin in_p "Non-inverting input";
    Interfaces.Pin in_n "Inverting input";
    Interfaces.Pin out "Output against ground";
  equation
    in_p.v = in_n.v;
    in_p.i = 0;
    in_n.i = 0;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html>
<p>The output takes whatever current keeps the inputs at the same potential. It needs feedback from the output to the
inverting input.</p>
</html>"));
  end IdealOpAmp;

  model IdealLimitedOpAmp "Operational amplifier with unlimited gain between its supply voltages"
    Interfaces.Pin in_p "Non-inverting input";
    Interfaces.Pin in_n "Inverting input";
    Interfaces.Pin out "Output against ground";
    parameter Units.Voltage vMax = 15 "Highest output voltage";
    parameter Units.Voltage vMin = -15 "Lowest output voltage";
    Units.Voltage v "Voltage between the inputs";
    Real s(unit = "1") "Path parameter: output voltage, continued by the input voltage beyond the limits";
    Boolean high(start = false) "Whether the output is at its upper limit";
    Boolean low(start = false) "Whether the output is at its lower limit";
  protected
    constant Units.Voltage oneVolt = 1;
  equation
    v = in_p.v - in_n.v;
    in_p.i = 0;
    in_n.i = 0;
    high = s*oneVolt > vMax;
    low = s*oneVolt < vMin;
    if high then
      out.v = vMax;
      v = s*oneVolt - vMax;
    elseif low then
      out.v = vMin;
      v = s*oneVolt - vMin;
    else
      out.v = s*oneVolt;
      v = 0;
    end if;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html>
<p>As long as the output is between its limits the inputs are at the same potential; at a limit the output is a
constant voltage and the inputs part.</p>
</html>"));
  end IdealLimitedOpAmp;

  model EMF "Ideal conversion between electrical and rotational power"
    extends Interfaces.TwoPin;
    parameter Real k(unit = "N.m/A") = 1 "Torque per current";
    Rotational.Interfaces.Flange flange "Shaft";
    Units.AngularVelocity w "Angular velocity of the shaft";
  equation
    w = der(flange.phi);
    v = k*w;
    flange.tau = -k*i;
    annotation(Documentation(info = "<html>
<p>v = k w, torque = k i. A capacitor at its pins acts on the shaft like a moment of inertia k<sup>2</sup> C.</p>
</html>"));
  end EMF;

  model ConstantVoltage "Constant voltage source"
    extends Interfaces.TwoPin;
    parameter Units.Voltage V = 1 "Voltage";
  equation
    v = V;
    annotation(Documentation(info = "<html><p>A voltage that does not change.</p></html>"));
  end ConstantVoltage;

  model StepVoltage "Voltage that jumps once"
    extends Interfaces.TwoPin;
    parameter Units.Voltage V = 1 "Voltage after the step";
    parameter Units.Voltage offset = 0 "Voltage before the step";
    parameter Units.Time startTime = 0 "Time of the step";
  equation
    v = if time < startTime then offset else V;
    annotation(Documentation(info = "<html>
<p>Directly across a capacitor, the step makes an impulse of current.</p>
</html>"));
  end StepVoltage;

  model SineVoltage "Sinusoidal voltage source"
    extends Interfaces.TwoPin;
    parameter Units.Voltage V = 1 "Amplitude";
    parameter Units.Frequency f = 50 "Frequency";
    parameter Units.Angle phase = 0 "Phase at time 0";
    parameter Units.Voltage offset = 0 "Mean value";
  equation
    v = offset + V*sin(2*Units.pi*f*time + phase);
    annotation(Documentation(info = "<html><p>v = offset + V sin(2 π f t + phase).</p></html>"));
  end SineVoltage;

  model SignalVoltage "Voltage given by a signal"
    extends Interfaces.TwoPin;
    Blocks.Interfaces.RealInput u(unit = "V") "Voltage";
  equation
    v = u;
    annotation(Documentation(info = "<html><p>The voltage follows the input.</p></html>"));
  end SignalVoltage;

  model ConstantCurrent "Constant current source"
    extends Interfaces.TwoPin;
    parameter Units.Current I = 1 "Current from p to n through the source";
  equation
    i = I;
    annotation(Documentation(info = "<html><p>A current that does not change.</p></html>"));
  end ConstantCurrent;

  model SignalCurrent "Current given by a signal"
    extends Interfaces.TwoPin;
    Blocks.Interfaces.RealInput u(unit = "A") "Current";
  equation
    i = u;
    annotation(Documentation(info = "<html><p>The current from p to n follows the input.</p></html>"));
  end SignalCurrent;

  model VoltageSensor "Measures a voltage"
    extends Interfaces.TwoPin;
    Blocks.Interfaces.RealOutput y(unit = "V") "Voltage";
  equation
    i = 0;
    y = v;
    annotation(Documentation(info = "<html><p>Draws no current.</p></html>"));
  end VoltageSensor;

  model CurrentSensor "Measures a current"
    extends Interfaces.TwoPin;
    Blocks.Interfaces.RealOutput y(unit = "A") "Current";
  equation
    v = 0;
    y = i;
    annotation(Documentation(info = "<html><p>Has no voltage.</p></html>"));
  end CurrentSensor;
  annotation(Documentation(info = "<html>
<p>Circuits. Switching elements change the equations of the circuit when they switch; the voltages and currents right
after follow from the conservation of charge and flux.</p>
</html>"));
end Electrical;
