// A clutch with linear torques: RR-9603, appendix E.
//
// analyze: mode not engaged: index 1; states w1, w2
// analyze: mode engaged: index 2; states w1
// analyze: not engaged -> engaged: accepted; height 1; jumps w1, w2; impulses t1 1, t2 1; facts ; disabled w1 = w2, w1 = w2 (differentiated); says J1*imp(der(w1)) = imp(t1); says w1^+ = w2^+; says `w1` and `w2` jump to a common value; says `t1` and `t2` are impulsive (order 1)
// analyze: engaged -> not engaged: accepted; height 0; says all states keep their values

model ClutchLinear
  parameter Real J1 = 1;
  parameter Real J2 = 2;
  parameter Real a = 0.1;
  Real w1(start = 1, fixed = true);
  Real w2(start = 10, fixed = true);
  Real t1;
  Real t2;
  input Boolean engaged;
equation
  J1*der(w1) = t1 - a*w1;
  J2*der(w2) = t2 - a*w2;
  if engaged then
    w1 = w2;
    t1 + t2 = 0;
  else
    t1 = 0;
    t2 = 0;
  end if;
end ClutchLinear;
