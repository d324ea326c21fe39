// saltus simulate DanglingSwitch.mo
// expected: v = exp(-t); sv is not determined while the switch with a free end is open (kept, with a warning). happens: E0508 "2 equations for only 1 unknown, too many: `0 = 0`"
model DanglingSwitch
  Real v(start = 1, fixed = true), sv, si;
  Boolean c = time >= 1;
equation
  der(v) = -v - si;
  si = 0;
  if c then sv = 0; else si = 0; end if;
  annotation(experiment(StopTime = 2));
end DanglingSwitch;
