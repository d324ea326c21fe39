// HANG (> 20 s; stands at t = 2.0152): draining through a turbulent pipe, 3 lines. Closed form h = (1 - time/2)^2 until t = 2, then h = 0, q = 0.
// auto, tsit45, radau hang (dop853, esdirk43 not tried); bdf takes 2.6 s and ends at h = -3.7e-16. `h = if q > 0 then q^2 else -q^2` ends in 1.3 s.
// `h = sign(q)*q^2`: E0603 after 2 s. `h = q^3` (der(h) = -h^(1/3)) hangs too, at t = 1.519 (= 3/2). Two tanks q*abs(q) = a - b hang the same way.
// Right: comes to rest (as `der(h) = -sqrt(h)` under `if h > 0` does now), or an error; never a crawl without end.
//   timeout 20 saltus simulate DrainQuadratic.mo -o a.csv
model DrainQuadratic
  Real h(start=1, fixed=true), q;
equation
  der(h) = -q;
  q*abs(q) = h;
  annotation(experiment(StopTime=5, Tolerance=1e-8));
end DrainQuadratic;
