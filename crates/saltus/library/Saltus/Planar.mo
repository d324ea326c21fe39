within Saltus;
package Planar "Point masses in a vertical plane with bars, ropes and walls"
  package Interfaces "Connectors and partial models"
    connector Joint "Point in the plane, free to turn"
      Units.Length x "Horizontal position";
      Units.Length y "Vertical position";
      flow Units.Force fx "Horizontal force into the component";
      flow Units.Force fy "Vertical force into the component";
      annotation(Documentation(info = "<html><p>A hinge: position and force, no angle and no torque.</p></html>"));
    end Joint;

    partial model Link "Massless component with a force along the line between its ends"
      Joint a "First end";
      Joint b "Second end";
      Units.Length dx "Horizontal distance from a to b";
      Units.Length dy "Vertical distance from a to b";
      Real lambda(unit = "N/m") "Tension per distance: positive pulls the ends together";
    equation
      dx = b.x - a.x;
      dy = b.y - a.y;
      b.fx = lambda*dx;
      b.fy = lambda*dy;
      a.fx + b.fx = 0;
      a.fy + b.fy = 0;
      annotation(
        Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
        Documentation(info = "<html>
<p>The force between the ends is lambda times their distance; one equation is still to be added.</p>
</html>"));
    end Link;
  end Interfaces;

  model Fixed "Point that does not move"
    Interfaces.Joint joint "Point";
    parameter Units.Length x = 0 "Horizontal position";
    parameter Units.Length y = 0 "Vertical position";
  equation
    joint.x = x;
    joint.y = y;
    annotation(
      __Saltus(drawing = {Fixed(x = x, y = y)}),
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>A hinge on the ground or on the ceiling.</p></html>"));
  end Fixed;

  model Trolley "Hinge that is moved along a horizontal rail"
    Interfaces.Joint joint "Hinge";
    Translational.Interfaces.Flange flange "Horizontal position of the hinge";
    parameter Units.Length y = 0 "Height of the rail";
  equation
    joint.x = flange.s;
    joint.y = y;
    flange.f + joint.fx = 0;
    annotation(
      __Saltus(drawing = {Rail(y = y), Cart(x = joint.x, y = joint.y)}),
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Connects motion on a line with motion in the plane.</p></html>"));
  end Trolley;

  model PointMass "Point mass under gravity"
    Interfaces.Joint joint "The point";
    parameter Units.Mass m = 1 "Mass";
    parameter Units.Acceleration g = Units.g "Gravity, downward";
    Units.Length x(start = 0) "Horizontal position";
    Units.Length y(start = 0) "Vertical position";
    Units.Velocity vx(start = 0) "Horizontal velocity";
    Units.Velocity vy(start = 0) "Vertical velocity";
    Units.Energy energy "Kinetic and potential energy";
  equation
    joint.x = x;
    joint.y = y;
    vx = der(x);
    vy = der(y);
    m*der(vx) = joint.fx;
    m*der(vy) = joint.fy - m*g;
    energy = m*(vx^2 + vy^2)/2 + m*g*y;
    annotation(
      __Saltus(drawing = {Point(x = x, y = y)}),
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html><p>Newton's law in Cartesian coordinates.</p></html>"));
  end PointMass;

  model Bar "Massless rigid bar with a hinge at each end"
    extends Interfaces.Link;
    parameter Units.Length L = 1 "Length";
  equation
    dx^2 + dy^2 = L^2;
    annotation(
      __Saltus(drawing = {Line(x1 = a.x, y1 = a.y, x2 = b.x, y2 = b.y)}),
      Documentation(info = "<html>
<p>The constraint in Cartesian coordinates makes a system of index 3; the states are chosen by the numbers and chosen anew
where they degrade.</p>
</html>"));
  end Bar;

  model Rope "Massless rope that cannot be stretched and cannot push"
    extends Interfaces.Link;
    parameter Units.Length L = 1 "Length";
    Boolean taut(start = false) "Whether the rope is tight";
    Real slack(unit = "1") "Missing squared length in square metre when slack, minus lambda when taut";
  protected
    constant Units.Area oneArea = 1;
    constant Real oneLambda(unit = "N/m") = 1;
  equation
    taut = slack <= 0;
    if taut then
      dx^2 + dy^2 = L^2;
      lambda = -slack*oneLambda;
    else
      L^2 - dx^2 - dy^2 = slack*oneArea;
      lambda = 0;
    end if;
    annotation(
      __Saltus(drawing = {Rope(x1 = a.x, y1 = a.y, x2 = b.x, y2 = b.y, length = L, on = taut)}),
      Documentation(info = "<html>
<p>When it goes taut, the velocity along the rope is lost and lambda is an impulse; it goes slack when lambda would become
negative.</p>
</html>"));
  end Rope;

  model ElasticRope "Rope that throws its ends back when it goes taut"
    extends Interfaces.Link;
    parameter Units.Length L = 1 "Length";
    parameter Real e(unit = "1") = 1 "Restitution";
    Boolean taut(start = false) "Whether the rope is tight";
  equation
    taut = dx^2 + dy^2 >= L^2;
    if not taut then
      lambda = 0;
    end if;
    when taut then
      dx*der(dx) + dy*der(dy) = -e*(dx*pre(der(dx)) + dy*pre(der(dy)));
    end when;
    annotation(
      __Saltus(drawing = {Rope(x1 = a.x, y1 = a.y, x2 = b.x, y2 = b.y, length = L, on = taut)}),
      Documentation(info = "<html>
<p>When it goes taut, the velocity along the rope is reversed and multiplied by e; the rope is tight for no time.</p>
</html>"));
  end ElasticRope;

  model Floor "Smooth horizontal floor, impact without rebound"
    Interfaces.Joint joint "Point above the floor";
    parameter Units.Length y0 = 0 "Height of the floor";
    Boolean contact(start = false) "Whether the point is on the floor";
    Real s(unit = "1") "Height above the floor in metre, minus contact force in newton on the floor";
  protected
    constant Units.Length oneMetre = 1;
    constant Units.Force oneNewton = 1;
  equation
    joint.fx = 0;
    contact = s <= 0;
    if contact then
      joint.y = y0;
      joint.fy = s*oneNewton;
    else
      joint.y - y0 = s*oneMetre;
      joint.fy = 0;
    end if;
    annotation(
      __Saltus(drawing = {Floor(y = y0, x = joint.x, on = contact)}),
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html>
<p>The vertical velocity is lost at the impact, the horizontal one is kept. The point leaves the floor when the contact
force would pull.</p>
</html>"));
  end Floor;

  model Wall "Smooth vertical wall, impact with restitution"
    Interfaces.Joint joint "Point beside the wall";
    parameter Units.Length x0 = 0 "Position of the wall";
    parameter Integer side = 1 "1: free space on the left of the wall, -1: on the right";
    parameter Real e(unit = "1") = 1 "Restitution";
    Boolean contact(start = false) "Whether the point touches the wall";
    Units.Velocity v "Velocity across the wall";
  equation
    v = der(joint.x);
    joint.fy = 0;
    contact = side*(joint.x - x0) >= 0;
    if not contact then
      joint.fx = 0;
    end if;
    when contact then
      v = -e*pre(v);
    end when;
    annotation(
      __Saltus(drawing = {Wall(x = x0, side = side, y = joint.y, on = contact)}),
      Icon(graphics = {Text(extent = {{-100, 60}, {100, 100}}, textString = "%name")}),
      Documentation(info = "<html>
<p>The horizontal velocity is reversed and multiplied by e, the vertical one is kept.</p>
</html>"));
  end Wall;
  annotation(Documentation(info = "<html>
<p>Mechanisms of point masses in Cartesian coordinates, x to the right and y upward.</p>
</html>"));
end Planar;
