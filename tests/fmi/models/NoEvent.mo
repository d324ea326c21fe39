// unit: stop 4
model NoEvent
  Real x(start = 0, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = cos(3*time);
  der(y) = noEvent(if x > 0 then x^3 else 0) - smooth(0, if x > 0.1 then x - 0.1 else 0);
end NoEvent;
