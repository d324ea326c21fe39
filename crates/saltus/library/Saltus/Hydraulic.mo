within Saltus;
package Hydraulic "Incompressible fluid: tanks, valves, pumps, cylinders"
  package Interfaces "Connectors and partial models"
    connector Port "Pipe end"
      Units.Pressure p "Pressure above the atmosphere";
      flow Units.VolumeFlowRate q "Volume flow rate into the component";
      annotation(Documentation(info = "<html>
<p>Pressure and volume flow rate of a fluid of constant density.</p>
</html>"));
    end Port;

    partial model TwoPorts "Component that passes fluid on"
      Port port_a "First end";
      Port port_b "Second end";
      Units.Pressure dp "Pressure drop from a to b";
      Units.VolumeFlowRate q "Volume flow rate from a to b";
    equation
      dp = port_a.p - port_b.p;
      port_a.q = q;
      port_b.q = -q;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Pressure drop and balance of volume.</p></html>"));
    end TwoPorts;
  end Interfaces;

  model Atmosphere "Reservoir with constant pressure"
    Interfaces.Port port "Pipe end";
    parameter Units.Pressure p = 0 "Pressure above the atmosphere";
  equation
    port.p = p;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Takes and gives any flow.</p></html>"));
  end Atmosphere;

  model Pump "Constant volume flow rate"
    extends Interfaces.TwoPorts;
    parameter Units.VolumeFlowRate q0 = 1e-3 "Volume flow rate from a to b";
  equation
    q = q0;
    annotation(Documentation(info = "<html><p>Gives whatever pressure the flow needs.</p></html>"));
  end Pump;

  model Pipe "Laminar flow resistance"
    extends Interfaces.TwoPorts;
    parameter Real R(unit = "Pa.s/m3") = 1e6 "Pressure drop per volume flow rate";
  equation
    dp = R*q;
    annotation(Documentation(info = "<html><p>Pressure drop in proportion to the flow.</p></html>"));
  end Pipe;

  model Valve "Ideal shut-off valve"
    extends Interfaces.TwoPorts;
    Blocks.Interfaces.BooleanInput open "Whether the valve is open";
  equation
    if open then
      dp = 0;
    else
      q = 0;
    end if;
    annotation(Documentation(info = "<html><p>No pressure drop when open, no flow when shut.</p></html>"));
  end Valve;

  model CheckValve "Ideal check valve: flow from a to b only"
    extends Interfaces.TwoPorts;
    Boolean open(start = false) "Whether fluid flows";
    Real s(unit = "1") "Flow in litre per second when open, pressure drop in bar when shut";
  protected
    constant Units.Pressure oneBar = 1e5;
    constant Units.VolumeFlowRate oneLitrePerSecond = 1e-3;
  equation
    open = s > 0;
    if open then
      dp = 0;
      q = s*oneLitrePerSecond;
    else
      dp = s*oneBar;
      q = 0;
    end if;
    annotation(Documentation(info = "<html><p>The diode of hydraulics.</p></html>"));
  end CheckValve;

  model ReliefValve "Ideal relief valve: keeps the pressure drop at or below a limit"
    extends Interfaces.TwoPorts;
    parameter Units.Pressure dpMax = 1e5 "Pressure drop at which it opens";
    Boolean open(start = false) "Whether fluid flows";
    Real s(unit = "1") "Flow in litre per second when open, pressure above the limit in bar when shut";
  protected
    constant Units.Pressure oneBar = 1e5;
    constant Units.VolumeFlowRate oneLitrePerSecond = 1e-3;
  equation
    open = s > 0;
    if open then
      dp = dpMax;
      q = s*oneLitrePerSecond;
    else
      dp - dpMax = s*oneBar;
      q = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>Shut below the limit; at the limit it passes whatever flow keeps the pressure there.</p>
</html>"));
  end ReliefValve;

  model OpenTank "Open tank that can overflow and run empty"
    parameter Units.Area A = 1 "Base area";
    parameter Units.Length height = 1 "Height of the rim";
    parameter Units.Density rho = 1000 "Density of the fluid";
    parameter Units.Acceleration g = Units.g "Gravity";
    parameter Real R(unit = "Pa.s/m3") = 1e6 "Flow resistance of the outlet";
    Interfaces.Port port "Outlet at the bottom";
    Blocks.Interfaces.RealInput inflow(unit = "m3/s") "Inflow from above, not negative";
    Units.Length level(start = 0) "Level of the fluid";
    Units.VolumeFlowRate spill "Flow over the rim";
    Units.VolumeFlowRate outflow "Fluid that leaves through the outlet";
    Boolean full(start = false) "Whether fluid runs over the rim";
    Boolean empty(start = false) "Whether the tank has run empty";
    Real sFull(unit = "1") "Overflow in litre per second when full, level above the rim in metre otherwise";
    Units.VolumeFlowRate air "Air drawn into the outlet when empty";
    Real sEmpty(unit = "1") "Air in litre per second when empty, minus level in metre otherwise";
  protected
    constant Units.Length oneMetre = 1;
    constant Units.VolumeFlowRate oneLitrePerSecond = 1e-3;
  equation
    outflow + air = -port.q;
    A*der(level) = inflow - outflow - spill;
    rho*g*level - port.p = -R*port.q;
    full = sFull > 0;
    if full then
      level = height;
      spill = sFull*oneLitrePerSecond;
    else
      level - height = sFull*oneMetre;
      spill = 0;
    end if;
    empty = sEmpty > 0;
    if empty then
      level = 0;
      air = sEmpty*oneLitrePerSecond;
    else
      level = -sEmpty*oneMetre;
      air = 0;
    end if;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html>
<p>Between its limits the level is a state. When full, the level is the height of the rim and the surplus runs over; when
empty, the level is zero, only what flows in flows out, and the rest of the flow is air.</p>
</html>"));
  end OpenTank;

  model Cylinder "Cylinder with a piston"
    Interfaces.Port port "Chamber";
    Translational.Interfaces.Flange flange "Piston rod";
    parameter Units.Area A = 1e-3 "Area of the piston";
  equation
    port.q = A*der(flange.s);
    flange.f = -A*port.p;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Pressure pushes the rod in the positive direction.</p></html>"));
  end Cylinder;
  annotation(Documentation(info = "<html>
<p>Fluid of constant density. A pipe end has a pressure and a volume flow rate.</p>
</html>"));
end Hydraulic;
