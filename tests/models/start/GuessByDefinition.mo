// Zero is no guess for a divisor: the thermal voltage is guessed from the temperature, which has a start value.
//
// The temperature of the diode is not a state but follows from the heat it makes, so all equations are one system.
//
// run: stop = 1
// expect: v + 10*i at 0 = 1 within 1e-9
// expect: 10*(T - 300) - 1000*v*i at 0 = 0 within 1e-6
// expect: T >= 300 always

model GuessByDefinition "A diode that heats itself"
  Real T(start = 290, nominal = 300) "Temperature";
  Real vt "Thermal voltage";
  Real v "Voltage";
  Real i "Current";
equation
  10*(T - 300) = 1000*v*i;
  vt = 8.617e-5*T;
  i = 1e-9*(exp(v/vt) - 1);
  v + 10*i = 1;
end GuessByDefinition;
