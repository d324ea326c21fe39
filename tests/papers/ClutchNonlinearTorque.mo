// A clutch whose torques enter nonlinearly: RR-9603, appendix E.
//
// The torques are impulsive when the clutch engages; the cube of an impulse has no meaning.
//
// analyze: mode not engaged: index 1; states w1, w2
// analyze: mode engaged: index 2; states w1
// analyze: not engaged -> engaged: refused not good; height 1; says `t1` and `t2` are impulsive at this mode change but enter equations nonlinearly; says `J1*der(w1) = t1^3` holds `t1` nonlinearly; says make the equations linear

model ClutchNonlinearTorque
  parameter Real J1 = 1;
  parameter Real J2 = 2;
  Real w1(start = 1, fixed = true);
  Real w2(start = 10, fixed = true);
  Real t1;
  Real t2;
  input Boolean engaged;
equation
  J1*der(w1) = t1^3;
  J2*der(w2) = t2^3;
  if engaged then
    w1 = w2;
    t1 + t2 = 0;
  else
    t1 = 0;
    t2 = 0;
  end if;
end ClutchNonlinearTorque;
