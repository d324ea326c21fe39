// unit: stop 3
model BecomesState
  Real x(start = 0), y(start = 1), z;
equation
  if time < 1 then x = sin(time); der(y) = -y; elseif time < 2 then der(x) = -x; y = x; else der(x) = y; der(y) = -x; end if;
  z = x + y;
end BecomesState;
