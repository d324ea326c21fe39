within Saltus;
package Rotational "Shafts with ideal clutches, brakes and friction"
  package Interfaces "Connectors and partial models"
    connector Flange "Shaft end"
      Units.Angle phi "Angle";
      flow Units.Torque tau "Torque into the component";
      annotation(Documentation(info = "<html>
<p>Same contents as <code>Modelica.Mechanics.Rotational.Interfaces.Flange_a</code>; the two can be connected.</p>
</html>"));
    end Flange;

    partial model TwoFlanges "Component between two shafts"
      Flange flange_a "Left shaft end";
      Flange flange_b "Right shaft end";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Two shaft ends, no equations.</p></html>"));
    end TwoFlanges;

    partial model Coupling "Massless component that passes a torque on"
      extends TwoFlanges;
      Units.Angle phi_rel(start = 0) "Angle of b against a";
      Units.AngularVelocity w_rel(start = 0) "Angular velocity of b against a";
      Units.Torque tau "Torque passed from a to b";
    equation
      phi_rel = flange_b.phi - flange_a.phi;
      w_rel = der(phi_rel);
      flange_a.tau = tau;
      flange_b.tau = -tau;
      annotation(Documentation(info = "<html>
<p>Relative angle, relative velocity and balance of torques; one equation is still to be added.</p>
</html>"));
    end Coupling;
  end Interfaces;

  model Fixed "Shaft end that does not turn"
    Interfaces.Flange flange "Shaft end";
    parameter Units.Angle phi0 = 0 "Angle";
  equation
    flange.phi = phi0;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>The housing.</p></html>"));
  end Fixed;

  model Inertia "Rigid shaft with moment of inertia"
    extends Interfaces.TwoFlanges;
    parameter Units.MomentOfInertia J = 1 "Moment of inertia";
    Units.Angle phi(start = 0) "Angle";
    Units.AngularVelocity w(start = 0) "Angular velocity";
  equation
    flange_a.phi = phi;
    flange_b.phi = phi;
    w = der(phi);
    J*der(w) = flange_a.tau + flange_b.tau;
    annotation(Documentation(info = "<html>
<p>Starts at <code>phi(start = …)</code> with <code>w(start = …)</code>. Inertias that are rigidly coupled at the start with
different velocities begin with the common velocity that conserves momentum.</p>
</html>"));
  end Inertia;

  model Spring "Linear rotational spring"
    extends Interfaces.Coupling;
    parameter Units.RotationalSpringConstant c = 1 "Stiffness";
    parameter Units.Angle phi_rel0 = 0 "Relative angle without torque";
  equation
    tau = -c*(phi_rel - phi_rel0);
    annotation(Documentation(info = "<html><p>Torque in proportion to the relative angle.</p></html>"));
  end Spring;

  model Damper "Linear rotational damper"
    extends Interfaces.Coupling;
    parameter Units.RotationalDampingConstant d = 1 "Damping";
  equation
    tau = -d*w_rel;
    annotation(Documentation(info = "<html><p>Torque in proportion to the relative velocity.</p></html>"));
  end Damper;

  model IdealGear "Gear with a fixed ratio"
    extends Interfaces.TwoFlanges;
    parameter Real ratio(unit = "1") = 1 "Angle of a per angle of b";
  equation
    flange_a.phi = ratio*flange_b.phi;
    flange_b.tau = -ratio*flange_a.tau;
    annotation(Documentation(info = "<html><p>No losses, no play, no inertia.</p></html>"));
  end IdealGear;

  model GearShift "Gear with two ratios, shifted without a clutch"
    extends Interfaces.TwoFlanges;
    parameter Real ratio1(unit = "1") = 3 "Ratio while second is false";
    parameter Real ratio2(unit = "1") = 2 "Ratio while second is true";
    Blocks.Interfaces.BooleanInput second "Whether the second ratio is engaged";
    Real ratio(unit = "1") "Velocity of a per velocity of b";
    Units.AngularVelocity w_a "Angular velocity of a";
    Units.AngularVelocity w_b "Angular velocity of b";
  equation
    ratio = if second then ratio2 else ratio1;
    w_a = der(flange_a.phi);
    w_b = der(flange_b.phi);
    w_a = (if second then ratio2 else ratio1)*w_b;
    flange_b.tau = -(if second then ratio2 else ratio1)*flange_a.tau;
    annotation(Documentation(info = "<html>
<p>The velocities on both sides jump when the ratio does; how they share the change is decided by the moments of inertia
on both sides, and the torques are impulses.</p>
</html>"));
  end GearShift;

  model Clutch "Ideal clutch"
    extends Interfaces.Coupling;
    Blocks.Interfaces.BooleanInput engaged "Whether the clutch is engaged";
  equation
    if engaged then
      w_rel = 0;
    else
      tau = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>No slip when engaged, no torque when open. When it engages, both sides jump to a common velocity and the torque is an
impulse.</p>
</html>"));
  end Clutch;

  model OneWayClutch "Free wheel: b may run ahead of a, never behind"
    extends Interfaces.Coupling;
    Boolean locked(start = false) "Whether a drives b";
    Real s(unit = "1") "Torque in newton metre when locked, minus relative velocity in radian per second when free";
  protected
    constant Units.Torque oneTorque = 1;
    constant Units.AngularVelocity oneVelocity = 1;
  equation
    locked = s > 0;
    if locked then
      w_rel = 0;
      tau = s*oneTorque;
    else
      w_rel = -s*oneVelocity;
      tau = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>Passes a positive torque from a to b. As soon as b would be faster than a, it runs free.</p>
</html>"));
  end OneWayClutch;

  model Brake "Ideal brake between shaft and housing"
    extends Interfaces.TwoFlanges;
    Blocks.Interfaces.BooleanInput locked "Whether the brake is applied";
    Units.AngularVelocity w "Angular velocity of the shaft";
    Units.Torque tau "Torque on the housing";
  equation
    flange_a.phi = flange_b.phi;
    w = der(flange_a.phi);
    tau = flange_a.tau + flange_b.tau;
    if locked then
      w = 0;
    else
      tau = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>Stops the shaft at once: the torque is an impulse, and its weight the angular momentum that was taken away.</p>
</html>"));
  end Brake;

  model BearingFriction "Coulomb friction with stiction between shaft and housing"
    extends Interfaces.TwoFlanges;
    parameter Units.Torque tau0 = 1 "Coulomb friction, also the torque at which the shaft breaks away";
    parameter Units.RotationalDampingConstant d = 0 "Viscous friction";
    Units.AngularVelocity w "Angular velocity of the shaft";
    Units.Torque tau "Friction torque";
    Boolean forward(start = false) "Whether the shaft slides forward";
    Boolean backward(start = false) "Whether the shaft slides backward";
    Real s(unit = "1") "Path parameter: friction torque when stuck, continued by the velocity";
  protected
    constant Units.Torque oneTorque = 1;
    constant Units.AngularVelocity oneVelocity = 1;
  equation
    flange_a.phi = flange_b.phi;
    w = der(flange_a.phi);
    flange_a.tau + flange_b.tau = tau;
    forward = s*oneTorque > tau0;
    backward = s*oneTorque < -tau0;
    if forward then
      tau = tau0 + d*w;
      w = (s - tau0/oneTorque)*oneVelocity;
    elseif backward then
      tau = -tau0 + d*w;
      w = (s + tau0/oneTorque)*oneVelocity;
    else
      tau = s*oneTorque;
      w = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>While the shaft is stuck its velocity is exactly zero and no state; it breaks away when the torque needed to hold it
exceeds tau0.</p>
</html>"));
  end BearingFriction;

  model FrictionClutch "Clutch with dry friction and a pressure signal"
    extends Interfaces.Coupling;
    parameter Units.Torque tauMax = 1 "Friction torque at full pressure";
    Blocks.Interfaces.RealInput pressure(unit = "1") "Pressure between 0 and 1";
    Units.Torque tau0 "Torque the clutch can pass on";
    Boolean forward(start = false) "Whether a is faster than b";
    Boolean backward(start = false) "Whether b is faster than a";
    Real s(unit = "1") "Path parameter: torque when stuck, continued by the slip";
  protected
    constant Units.Torque oneTorque = 1;
    constant Units.AngularVelocity oneVelocity = 1;
  equation
    tau0 = tauMax*max(0, min(1, pressure));
    forward = s*oneTorque > tau0;
    backward = s*oneTorque < -tau0;
    if forward then
      tau = tau0;
      -w_rel = (s - tau0/oneTorque)*oneVelocity;
    elseif backward then
      tau = -tau0;
      -w_rel = (s + tau0/oneTorque)*oneVelocity;
    else
      tau = s*oneTorque;
      w_rel = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>Slips with the friction torque, sticks when the slip ends, breaks away when the torque to hold exceeds what the pressure
allows.</p>
</html>"));
  end FrictionClutch;

  model ConstantTorque "Constant torque on a shaft"
    Interfaces.Flange flange "Shaft end";
    parameter Units.Torque tau = 1 "Torque that drives the shaft";
  equation
    flange.tau = -tau;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>A positive torque accelerates in the positive direction.</p></html>"));
  end ConstantTorque;

  model TorqueSource "Torque given by a signal"
    Interfaces.Flange flange "Shaft end";
    Blocks.Interfaces.RealInput tau(unit = "N.m") "Torque that drives the shaft";
  equation
    flange.tau = -tau;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>A positive torque accelerates in the positive direction.</p></html>"));
  end TorqueSource;

  model SpeedSource "Shaft driven with a constant velocity"
    Interfaces.Flange flange "Shaft end";
    parameter Units.AngularVelocity w = 1 "Angular velocity";
  equation
    der(flange.phi) = w;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Gives whatever torque the velocity needs.</p></html>"));
  end SpeedSource;

  model SpeedSensor "Measures an angular velocity"
    Interfaces.Flange flange "Shaft end";
    Blocks.Interfaces.RealOutput w(unit = "rad/s") "Angular velocity";
  equation
    flange.tau = 0;
    w = der(flange.phi);
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Takes no torque.</p></html>"));
  end SpeedSensor;
  annotation(Documentation(info = "<html>
<p>Shafts that turn about one axis. A shaft end has an angle and a torque.</p>
</html>"));
end Rotational;
