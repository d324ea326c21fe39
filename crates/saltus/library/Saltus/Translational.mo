within Saltus;
package Translational "Masses on a line with ropes, stops, impacts and friction"
  package Interfaces "Connectors and partial models"
    connector Flange "Rod end"
      Units.Length s "Position";
      flow Units.Force f "Force into the component";
      annotation(Documentation(info = "<html>
<p>Same contents as <code>Modelica.Mechanics.Translational.Interfaces.Flange_a</code>; the two can be connected.</p>
</html>"));
    end Flange;

    partial model TwoFlanges "Component between two rods"
      Flange flange_a "Left rod end";
      Flange flange_b "Right rod end";
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html><p>Two rod ends, no equations.</p></html>"));
    end TwoFlanges;

    partial model Coupling "Massless component that passes a force on"
      extends TwoFlanges;
      Units.Length s_rel "Distance from a to b";
      Units.Velocity v_rel "Velocity of b against a";
      Units.Force f "Force that pushes a and b apart";
    equation
      s_rel = flange_b.s - flange_a.s;
      v_rel = der(s_rel);
      flange_a.f = f;
      flange_b.f = -f;
      annotation(Documentation(info = "<html>
<p>Distance, relative velocity and balance of forces; one equation is still to be added.</p>
</html>"));
    end Coupling;
  end Interfaces;

  model Fixed "Rod end that does not move"
    Interfaces.Flange flange "Rod end";
    parameter Units.Length s0 = 0 "Position";
  equation
    flange.s = s0;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>The ground or the wall.</p></html>"));
  end Fixed;

  model Mass "Sliding mass"
    extends Interfaces.TwoFlanges;
    parameter Units.Mass m = 1 "Mass";
    parameter Units.Acceleration g = 0 "Gravity against the positive direction";
    Units.Length s(start = 0) "Position";
    Units.Velocity v(start = 0) "Velocity";
  equation
    flange_a.s = s;
    flange_b.s = s;
    v = der(s);
    m*der(v) = flange_a.f + flange_b.f - m*g;
    annotation(Documentation(info = "<html>
<p>Starts at <code>s(start = …)</code> with <code>v(start = …)</code>. Both rod ends are at the same position: the mass has no
length.</p>
</html>"));
  end Mass;

  model Spring "Linear spring"
    extends Interfaces.Coupling;
    parameter Units.TranslationalSpringConstant c = 1 "Stiffness";
    parameter Units.Length s_rel0 = 0 "Distance without force";
  equation
    f = -c*(s_rel - s_rel0);
    annotation(Documentation(info = "<html><p>Force in proportion to the elongation.</p></html>"));
  end Spring;

  model Damper "Linear damper"
    extends Interfaces.Coupling;
    parameter Units.TranslationalDampingConstant d = 1 "Damping";
  equation
    f = -d*v_rel;
    annotation(Documentation(info = "<html><p>Force in proportion to the relative velocity.</p></html>"));
  end Damper;

  model Rope "Massless rope that cannot be stretched and cannot push"
    extends Interfaces.Coupling;
    parameter Units.Length L = 1 "Length";
    Boolean taut(start = false) "Whether the rope is tight";
    Units.Force tension "Force in the rope, not negative";
    Real slack(unit = "1") "Missing length in metre when slack, minus tension in newton when taut";
  protected
    constant Units.Length oneMetre = 1;
    constant Units.Force oneNewton = 1;
  equation
    tension = -f;
    taut = slack <= 0;
    if taut then
      s_rel = L;
      tension = -slack*oneNewton;
    else
      L - s_rel = slack*oneMetre;
      tension = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>When it goes taut, both ends take on a common velocity and the tension is an impulse. It goes slack when the tension
would become negative.</p>
</html>"));
  end Rope;

  model Stop "Plastic stop: b does not come closer to a than gap0"
    extends Interfaces.Coupling;
    parameter Units.Length gap0 = 0 "Smallest distance from a to b";
    Boolean contact(start = false) "Whether the stop carries force";
    Real s(unit = "1") "Gap in metre when open, minus contact force in newton when closed";
  protected
    constant Units.Length oneMetre = 1;
    constant Units.Force oneNewton = 1;
  equation
    contact = s <= 0;
    if contact then
      s_rel = gap0;
      f = -s*oneNewton;
    else
      s_rel - gap0 = s*oneMetre;
      f = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>Impact without rebound: both sides go on with a common velocity that conserves momentum. They part when the contact
force would pull.</p>
</html>"));
  end Stop;

  model ElasticImpact "Impact with a coefficient of restitution"
    extends Interfaces.Coupling;
    parameter Units.Length gap0 = 0 "Distance from a to b at contact";
    parameter Real e(unit = "1") = 1 "Restitution: 1 elastic, near 0 almost plastic";
    Boolean contact(start = false) "Whether the bodies touch";
  equation
    contact = s_rel <= gap0;
    if not contact then
      f = 0;
    end if;
    when contact then
      v_rel = -e*pre(v_rel);
    end when;
    annotation(Documentation(info = "<html>
<p>At contact the relative velocity is reversed and multiplied by e; momentum is conserved because the force is an impulse
in the balances of both sides. Contact lasts no time: a body that bounces to rest needs a <code>Stop</code>, or the run
ends with a report that impacts accumulate.</p>
</html>"));
  end ElasticImpact;

  model Friction "Coulomb friction with stiction between two bodies"
    extends Interfaces.Coupling;
    parameter Units.Force f0 = 1 "Coulomb friction, also the force at which sliding starts";
    parameter Units.TranslationalDampingConstant d = 0 "Viscous friction";
    Boolean forward(start = false) "Whether b slides forward on a";
    Boolean backward(start = false) "Whether b slides backward on a";
    Units.Force friction "Friction force that holds b back";
    Real s(unit = "1") "Path parameter: friction force when stuck, continued by the velocity";
  protected
    constant Units.Force oneNewton = 1;
    constant Units.Velocity oneVelocity = 1;
  equation
    friction = -f;
    forward = s*oneNewton > f0;
    backward = s*oneNewton < -f0;
    if forward then
      friction = f0 + d*v_rel;
      v_rel = (s - f0/oneNewton)*oneVelocity;
    elseif backward then
      friction = -f0 + d*v_rel;
      v_rel = (s + f0/oneNewton)*oneVelocity;
    else
      friction = s*oneNewton;
      v_rel = 0;
    end if;
    annotation(Documentation(info = "<html>
<p>While stuck the relative velocity is exactly zero and no state. Several friction elements that start and stop to slide
at the same instant are decided together.</p>
</html>"));
  end Friction;

  model ConstantForce "Constant force on a rod"
    Interfaces.Flange flange "Rod end";
    parameter Units.Force f = 1 "Force that drives the rod";
  equation
    flange.f = -f;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>A positive force accelerates in the positive direction.</p></html>"));
  end ConstantForce;

  model ForceSource "Force given by a signal"
    Interfaces.Flange flange "Rod end";
    Blocks.Interfaces.RealInput f(unit = "N") "Force that drives the rod";
  equation
    flange.f = -f;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>A positive force accelerates in the positive direction.</p></html>"));
  end ForceSource;

  model PositionSensor "Measures a position"
    Interfaces.Flange flange "Rod end";
    Blocks.Interfaces.RealOutput s(unit = "m") "Position";
  equation
    flange.f = 0;
    s = flange.s;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Takes no force.</p></html>"));
  end PositionSensor;

  model Rack "Rack and pinion"
    Rotational.Interfaces.Flange flangeR "Pinion shaft";
    Interfaces.Flange flangeT "Rack";
    parameter Units.Length r = 1 "Radius of the pinion";
  equation
    flangeT.s = r*flangeR.phi;
    flangeR.tau = -r*flangeT.f;
    annotation(
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Ideal conversion between rotation and translation; also a drum with a rope that stays
tight, or a wheel that does not slip.</p></html>"));
  end Rack;
  annotation(Documentation(info = "<html>
<p>Bodies that move along one axis. A rod end has a position and a force.</p>
</html>"));
end Translational;
