// unit: stop 3
model Enumeration
  type Phase = enumeration(idle "nothing", run "works", brake);
  output Phase p(start = Phase.idle, fixed = true);
  Real w(start = 0, fixed = true);
equation
  when time >= 0.25 then p = Phase.run;
  elsewhen w > 2 then p = Phase.brake;
  elsewhen w < -1 then p = Phase.idle;
  end when;
  if p == Phase.run then der(w) = 4 - w; elseif p == Phase.brake then der(w) = -3; else w = 0; end if;
end Enumeration;
