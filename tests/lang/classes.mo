// model Redeclared
// declaration parameter Real system.part.k = 5.0
// equation system.part.y = system.part.k * system.part.u ^ 2
// no variable system.part.offset
package Library
  partial model Part
    input Real u;
    output Real y;
    parameter Real k = 1;
  end Part;

  model Linear
    extends Part;
    parameter Real offset = 0;
  equation
    y = k*u + offset;
  end Linear;

  model Quadratic
    extends Part(k = 2);
  equation
    y = k*u^2;
  end Quadratic;

  model System
    replaceable model Kind = Linear constrainedby Part(k = 5);
    Kind part(u = u);
    Real u = time;
  end System;
end Library;

model Redeclared
  Library.System system(redeclare model Kind = Library.Quadratic);
equation
  // u of the part is bound to the system's u
end Redeclared;

// model ClassExtends
// equation gas.state = 2.0 * gas.T
// equation gas.extra = gas.state + 1
package Base
  constant Real c = 1;
  replaceable partial model Properties
    Real T = time;
    Real state;
  end Properties;
end Base;

package Gas
  extends Base(c = 2);
  redeclare model extends Properties
    Real extra = state + 1;
  equation
    state = c*T;
  end Properties;
end Gas;

model ClassExtends
  Gas.Properties gas;
end ClassExtends;

// model Diamond
// unknowns 1
// declaration parameter Real x0 = 3.0
model Top
  parameter Real x0 = 1;
  Real x(start = x0);
equation
  der(x) = -x;
end Top;

model Left
  extends Top(x0 = 3);
end Left;

model Right
  extends Top(x0 = 3);
end Right;

model Diamond
  extends Left;
  extends Right;
end Diamond;

// model Outers
// equation house.room.heat = 2 * (T0 - house.room.T)
// equation house.room.T = time
model Room
  outer Real T0;
  Real T = time;
  Real heat = 2*(T0 - T);
end Room;

model House
  Room room;
end House;

model Outers
  inner Real T0 = 290;
  House house;
end Outers;

// model Conditional
// no variable heater.y
// unknowns 2
connector Signal = Real;

model Heater
  output Signal y;
equation
  y = 1;
end Heater;

model Sink
  output Signal u;
  Real x = time;
equation
  u = 2*x;
end Sink;

model Conditional
  parameter Boolean heated = false;
  Heater heater if heated;
  Sink sink;
equation
  connect(heater.y, sink.u);
end Conditional;

// model Enumerations
// equation speed = if gear == Gear.second then 2 else 1
type Gear = enumeration(first, second "faster");

model Enumerations
  Gear gear = if time > 1 then Gear.second else Gear.first;
  Real speed = if gear == Gear.second then 2 else 1;
  parameter Real ratio[Gear] = {1, 2};
end Enumerations;
