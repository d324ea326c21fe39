within Saltus;
package Thermal "Heat storage and transport"
  package Interfaces "Connectors and partial models"
    connector HeatPort "Point with a temperature"
      Units.Temperature T "Temperature";
      flow Units.HeatFlowRate Q_flow "Heat flow rate into the component";
      annotation(Documentation(info = "<html>
<p>Same contents as <code>Modelica.Thermal.HeatTransfer.Interfaces.HeatPort</code>; the two can be connected.</p>
</html>"));
    end HeatPort;

    partial model TwoPorts "Component that passes heat on"
      HeatPort port_a "First side";
      HeatPort port_b "Second side";
      Real dT(unit = "K") "Temperature difference from a to b";
      Units.HeatFlowRate Q_flow "Heat flow rate from a to b";
    equation
      dT = port_a.T - port_b.T;
      port_a.Q_flow = Q_flow;
      port_b.Q_flow = -Q_flow;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Temperature difference and balance of heat.</p></html>"));
    end TwoPorts;
  end Interfaces;

  model HeatCapacitor "Body with one temperature"
    Interfaces.HeatPort port "Surface";
    parameter Units.HeatCapacity C = 1 "Heat capacity";
    Units.Temperature T(start = 293.15) "Temperature";
  equation
    T = port.T;
    C*der(T) = port.Q_flow;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Starts at <code>T(start = …)</code>.</p></html>"));
  end HeatCapacitor;

  model ThermalConductor "Heat conduction"
    extends Interfaces.TwoPorts;
    parameter Units.ThermalConductance G = 1 "Conductance";
  equation
    Q_flow = G*dT;
    annotation(Documentation(info = "<html><p>Heat flow in proportion to the temperature difference.</p></html>"));
  end ThermalConductor;

  model ThermalContact "Contact that is made and broken"
    extends Interfaces.TwoPorts;
    Blocks.Interfaces.BooleanInput closed "Whether the bodies touch";
  equation
    if closed then
      dT = 0;
    else
      Q_flow = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>Ideal contact: one temperature when closed, no heat flow when open. When it closes, the bodies jump to the common
temperature that conserves energy.</p>
</html>"));
  end ThermalContact;

  model FixedTemperature "Constant temperature"
    Interfaces.HeatPort port "Surface";
    parameter Units.Temperature T = 293.15 "Temperature";
  equation
    port.T = T;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>The environment.</p></html>"));
  end FixedTemperature;

  model HeatSource "Heat flow rate given by a signal"
    Interfaces.HeatPort port "Surface";
    Blocks.Interfaces.RealInput Q_flow(unit = "W") "Heat flow rate";
  equation
    port.Q_flow = -Q_flow;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>A positive signal heats what is connected.</p></html>"));
  end HeatSource;

  model TemperatureSensor "Measures a temperature"
    Interfaces.HeatPort port "Surface";
    Blocks.Interfaces.RealOutput T(unit = "K") "Temperature";
  equation
    port.Q_flow = 0;
    T = port.T;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Takes no heat.</p></html>"));
  end TemperatureSensor;
  annotation(Documentation(info = "<html><p>Lumped heat transfer.</p></html>"));
end Thermal;
