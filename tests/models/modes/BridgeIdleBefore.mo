// An H-bridge whose idle mode (only dla conducts, no current) was visited before: when all switches open at 0.2538 the current
// goes on through dla and dhb. Currents of 1 nA at the start made all currents look like zero to sampled points.
//
// expect: l_i at 0.2593 = 0.0589927416707204 within 1e-6

model BridgeIdleBefore
  Boolean sla_on = time < 1e-9 or time > 0.27495;
  Real dhb_v; Real dhb_i;
  Real dhb_s; Boolean dhb_on;
  Real vs_v; Real vs_i;
  Real sha_v; Real sha_i;
  Real dlb_v; Real dlb_i;
  Boolean shb_on = time < 1e-9 or time > 0.27495;
  Real slb_v; Real slb_i;
  Boolean slb_on;
  Real dla_v; Real dla_i;
  Real dlb_s; Boolean dlb_on;
  Real u_b;
  Real u_a;
  Real l_v; Real l_i(start=0.0, fixed=true);
  Real u_p;
  Real sla_v; Real sla_i;
  Real dha_s; Boolean dha_on;
  Real u_m;
  Real r_v; Real r_i;
  Boolean sha_on;
  Real dha_v; Real dha_i;
  Real dla_s; Boolean dla_on;
  Real shb_v; Real shb_i;
equation
  l_v = u_a - u_m;
  + vs_i + sha_i - dha_i + shb_i - dhb_i = 0;
  dhb_v = u_b - u_p;
  if sla_on then sla_v = 0; else sla_i = 0; end if;
  shb_v = u_p - u_b;
  sha_on = mod(time, 0.423) >= 0.021150000000000002 and mod(time, 0.423) < 0.25379999999999997;
  dha_v = u_a - u_p;
  if shb_on then shb_v = 0; else shb_i = 0; end if;
  r_i = r_v/22000.0;
  dla_v = 0 - u_a;
  slb_v = u_b - 0;
  0 = if slb_on then slb_v else slb_i;
  dla_on = dla_s > 0; if dla_on then dla_v = 0; dla_s = dla_i; else dla_i = 0; dla_s = dla_v; end if;
  vs_v = u_p - 0;
  dhb_on = not dhb_s <= 0; dhb_s = if dhb_on then dhb_i else dhb_v; 0 = if dhb_on then dhb_v else dhb_i;
  dha_on = not dha_s <= 0; dha_s = if dha_on then dha_i else dha_v; 0 = if dha_on then dha_v else dha_i;
  - shb_i + slb_i + dhb_i - dlb_i - r_i = 0;
  vs_v = 1760.0;
  3120.0*der(l_i) = l_v;
  r_v = u_m - u_b;
  if sha_on then sha_v = 0; else sha_i = 0; end if;
  sha_v = u_p - u_a;
  dlb_on = dlb_s > 0; if dlb_on then dlb_v = 0; dlb_s = dlb_i; else dlb_i = 0; dlb_s = dlb_v; end if;
  dlb_v = 0 - u_b;
  - sha_i + sla_i + dha_i - dla_i + l_i = 0;
  sla_v = u_a - 0;
  - l_i + r_i = 0;
  slb_on = mod(time, 0.423) >= 0.021150000000000002 and mod(time, 0.423) < 0.25379999999999997;
  annotation(experiment(StopTime=0.2593, Tolerance=1e-06));
end BridgeIdleBefore;
