// A ladder of resistors and capacitors: a long line that charges from one end.
//
// What to look at: a stiff system as large as one likes (try --set n=10000): its Jacobian is sparse, and the work
// grows with the number of nodes only. The reference is the sum over the eigenvectors of the line.
//
// run: tolerance = 1e-8
// expect: v[1] at 1000 = 0.9821598740206161 within 1e-6
// expect: v[20] at 1000 = 0.6547154643642152 within 1e-6
// expect: v[40] at 1000 = 0.37109137758464805 within 1e-6
// expect: v[100] at 1000 = 0.0253595216009469 within 1e-6

model RcLadder "Line of resistors and capacitors"
  parameter Integer n = 200 "Number of nodes";
  parameter Real R(unit = "Ohm") = 1 "Resistance of a link";
  parameter Real C(unit = "F") = 1 "Capacitance of a node";
  parameter Real U(unit = "V") = 1 "Voltage at the beginning";
  Real v[n](each unit = "V", each start = 0, each fixed = true) "Voltages of the nodes";
  Real i[n](each unit = "A") "Currents into the nodes";
equation
  R*i[1] = U - v[1];
  for k in 2:n loop
    R*i[k] = v[k - 1] - v[k];
  end for;
  for k in 1:n - 1 loop
    C*der(v[k]) = i[k] - i[k + 1];
  end for;
  C*der(v[n]) = i[n];
  annotation(experiment(StopTime = 1000, Interval = 10));
end RcLadder;
