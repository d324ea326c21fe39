// A junction whose capacitance a function computes from parameters and its voltage. It has no charges, so that the function
// yields zero whatever the voltage is: the inner node is no state, and its voltage follows from the currents alone.
//
// With 1 V behind 2 Ω and a junction of 3 Ω the node is at 0.6 V at once; the one with charges takes its time 2*3/(2 + 3) = 1.2 s
// times its capacitance of 1 F.
//
// run: tolerance = 1e-9
// expect: u at 0+ = 0.6 within 1e-9
// expect: u at 1 = 0.6 within 1e-9
// expect: v at 0+ = 0 within 1e-9
// expect: v at 1 = 0.339241074895753 within 1e-7

model CapacitanceOfFunction
  record Junction
    Real C0, phi, m;
  end Junction;
  function fixedCapacitance
    input Real c;
    input Real v;
    output Real C;
  protected
    Real sum;
  algorithm
    if v < 0 then
      C := c*(1 - v);
    else
      sum := 0;
      for k in 1:4 loop
        sum := sum + c;
      end for;
      C := sum/4;
    end if;
  end fixedCapacitance;
  function capacitance
    input Junction j;
    input Real v;
    output Real C;
    output Real q;
  algorithm
    C := fixedCapacitance(j.C0*(1 - j.m), v);
    q := C*v;
  end capacitance;
  parameter Junction empty(C0 = 0, phi = 0.7, m = 0.5);
  parameter Junction full(C0 = 2, phi = 0.7, m = 0.5);
  Real u, v(start = 0, fixed = true), C, D;
equation
  C = capacitance(empty, u);
  D = capacitance(full, v);
  C*der(u) = (1 - u)/2 - u/3;
  D*der(v) = (1 - v)/2 - v/3;
  annotation(experiment(StopTime = 1, Interval = 0.1));
end CapacitanceOfFunction;
