// The lock of a differential closes while the wheels turn at different speeds.
//
// expect: carrier at 0 = 7 within 1e-9
// expect: wheel1 at 1- = 10 within 1e-9
// expect: wheel1 at 1+ = 6.142857142857143 within 1e-9
// expect: wheel2 at 1+ = 6.142857142857143 within 1e-9
// expect: carrier at 1+ = 6.142857142857143 within 1e-9
// expect: conserved 0.5*carrier + wheel1 + 2*wheel2 within 1e-9
// expect: wheel1 at 3 = 6.142857142857143 within 1e-9

model LockedDifferential
  parameter Real J0 = 0.5, J1 = 1, J2 = 2;
  Real carrier, wheel1(start = 10, fixed = true), wheel2(start = 4, fixed = true);
  Real t0 "Torque of the carrier on the gears", t1, t2 "Torques on the wheels", tl "Torque of the lock";
equation
  J0*der(carrier) = -t0;
  J1*der(wheel1) = t1 + tl;
  J2*der(wheel2) = t2 - tl;
  2*carrier = wheel1 + wheel2;
  t1 = t0/2;
  t2 = t0/2;
  if time >= 1 and time < 2 then
    wheel1 = wheel2;
  else
    tl = 0;
  end if;
  annotation(experiment(StopTime = 3, Interval = 0.1));
end LockedDifferential;
