// Five charged capacitors joined one after another by ideal switches; charge decides every voltage.
//
// expect: c[1].v at 1.5 = 0.6666666666666666 within 1e-9
// expect: c[3].v at 2.5 = 2.9259259259259256 within 1e-9
// expect: c[5].v at 3.5 = 2.95679012345679 within 1e-9
// expect: c[1].v at 4.5 = 2.8 within 1e-9
// expect: conserved c[1].v + 2*c[2].v + 3*c[3].v + 4*c[4].v + 5*c[5].v within 1e-9

model SwitchedLadder
  import Saltus.Electrical.*;
  Capacitor c[5](C = {1, 2, 3, 4, 5}, v(start = {10, -4, 7, 1, 3}, each fixed = true));
  IdealSwitch switch[4];
  Ground ground;
equation
  for k in 1:5 loop
    connect(c[k].n, ground.p);
  end for;
  for k in 1:4 loop
    connect(c[k].p, switch[k].p);
    connect(switch[k].n, c[k + 1].p);
  end for;
  switch[1].close = time >= 1 and time < 2 or time >= 4;
  switch[2].close = time >= 2 and time < 3 or time >= 4;
  switch[3].close = time >= 2;
  switch[4].close = time >= 3;
  annotation(experiment(StopTime = 5, Interval = 0.1));
end SwitchedLadder;
