// A position that is set back does not strike what is connected to it: `reinit` assigns states, nothing moves there.
//
// Mass 1 drives at constant speed round a track of length one and is set back at its end; a damper drags mass 2 along. The
// relative speed vrel = v1 - v2 = exp(-t) knows nothing of it; the dissipated power is nonlinear in it.
//
// run: tolerance = 1e-9
// expect: event at 1 within 1e-9
// expect: event at 2 within 1e-9
// expect: v2 at 2.5 = 0.9179150013761012 within 1e-7
// expect: vrel at 2.5 = 0.0820849986238988 within 1e-7
// expect: P at 2.5 = 0.006737946999085467 within 1e-7
// expect: s1 at 2.5 = 0.5 within 1e-8
// expect: s2 at 2.5 = 1.5820849986238988 within 1e-7

model ReinitTeleport
  Real s1(start = 0, fixed = true), v1(start = 1, fixed = true);
  Real s2(start = 0, fixed = true), v2(start = 0, fixed = true);
  Real srel, vrel, f, P;
equation
  v1 = der(s1);
  der(v1) = 0;
  v2 = der(s2);
  der(v2) = f;
  srel = s1 - s2;
  vrel = der(srel);
  f = vrel;
  P = f*vrel;
  when s1 >= 1 then
    reinit(s1, s1 - 1);
  end when;
  annotation(experiment(StopTime = 2.5));
end ReinitTeleport;
