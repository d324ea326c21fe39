within Saltus;
package Units "Quantities with their SI units"
  type Angle = Real(final quantity = "Angle", final unit = "rad", displayUnit = "deg");
  type AngularVelocity = Real(final quantity = "AngularVelocity", final unit = "rad/s");
  type AngularAcceleration = Real(final quantity = "AngularAcceleration", final unit = "rad/s2");
  type Area = Real(final quantity = "Area", final unit = "m2");
  type Acceleration = Real(final quantity = "Acceleration", final unit = "m/s2");
  type Capacitance = Real(final quantity = "Capacitance", final unit = "F", min = 0);
  type Current = Real(final quantity = "ElectricCurrent", final unit = "A");
  type Density = Real(final quantity = "Density", final unit = "kg/m3", min = 0);
  type Energy = Real(final quantity = "Energy", final unit = "J");
  type Force = Real(final quantity = "Force", final unit = "N");
  type Frequency = Real(final quantity = "Frequency", final unit = "Hz");
  type HeatCapacity = Real(final quantity = "HeatCapacity", final unit = "J/K");
  type HeatFlowRate = Real(final quantity = "Power", final unit = "W");
  type Inductance = Real(final quantity = "Inductance", final unit = "H");
  type Length = Real(final quantity = "Length", final unit = "m");
  type Mass = Real(final quantity = "Mass", final unit = "kg", min = 0);
  type MomentOfInertia = Real(final quantity = "MomentOfInertia", final unit = "kg.m2");
  type Power = Real(final quantity = "Power", final unit = "W");
  type Pressure = Real(final quantity = "Pressure", final unit = "Pa", displayUnit = "bar");
  type Resistance = Real(final quantity = "Resistance", final unit = "Ohm");
  type RotationalDampingConstant = Real(final quantity = "RotationalDampingConstant", final unit = "N.m.s/rad");
  type RotationalSpringConstant = Real(final quantity = "RotationalSpringConstant", final unit = "N.m/rad");
  type Temperature = Real(final quantity = "ThermodynamicTemperature", final unit = "K", displayUnit = "degC");
  type ThermalConductance = Real(final quantity = "ThermalConductance", final unit = "W/K");
  type Time = Real(final quantity = "Time", final unit = "s");
  type Torque = Real(final quantity = "Torque", final unit = "N.m");
  type TranslationalDampingConstant = Real(final quantity = "TranslationalDampingConstant", final unit = "N.s/m");
  type TranslationalSpringConstant = Real(final quantity = "TranslationalSpringConstant", final unit = "N/m");
  type Velocity = Real(final quantity = "Velocity", final unit = "m/s");
  type Voltage = Real(final quantity = "ElectricPotential", final unit = "V");
  type Volume = Real(final quantity = "Volume", final unit = "m3");
  type VolumeFlowRate = Real(final quantity = "VolumeFlowRate", final unit = "m3/s");

  constant Acceleration g = 9.81 "Gravity";
  constant Real pi = 3.14159265358979323846 "Circle constant";
  annotation(Documentation(info = "<html>
<p>Types for the quantities used in this library, and two constants.</p>
</html>"));
end Units;
