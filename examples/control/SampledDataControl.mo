// A sampled controller for a plant of fifth order.
//
// The controller acts at every 0.1 s. Its equations and those of the plant are solved together at each sample.
//
// What to look at: y rises smoothly to 1, u is a staircase.
//
// run: tolerance = 1e-10
// expect: u at 0 = 0.4 within 1e-9
// expect: xc at 0 = 0.1 within 1e-9
// expect: u at 0.5+ = 0.6295290906312514 within 1e-8
// expect: y at 0.7 = 0.1278941678719116 within 1e-8
// expect: y at 10 = 0.9958671065987721 within 1e-8
// expect: reference ref_sampled_data.csv y=y, u=u, xc=xc within 1e-6

model SampledDataControl "Sampled PI control of a continuous plant"
  parameter Real tau(unit = "s") = 0.2 "Time constant of each stage";
  parameter Real r = 1 "Reference";
  Real xp[5](each start = 0, each fixed = true) "States of the plant";
  Real y "Measured value";
  discrete Real xc(start = 0, fixed = true) "State of the controller";
  discrete Real u(start = 0, fixed = true) "Control";
equation
  der(xp[1]) = (u - xp[1])/tau;
  for i in 2:5 loop
    der(xp[i]) = (xp[i - 1] - xp[i])/tau;
  end for;
  y = xp[5];
  when sample(0, 0.1) then
    xc = pre(xc) + 0.1*(r - y);
    u = 0.5*pre(xc) + 0.4*(r - y);
  end when;
  annotation(experiment(StopTime = 10, Interval = 0.02));
end SampledDataControl;
