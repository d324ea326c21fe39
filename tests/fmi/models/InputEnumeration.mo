// unit: stop 3
// unit: input gear 0:1 0.5:2 1.5:3 2.25:2
model InputEnumeration "A gearbox that is told its gear"
  type Gear = enumeration(neutral, low, high);
  input Gear gear;
  output Gear last(start = Gear.neutral, fixed = true);
  Real w1(start = 4), w2(start = 0), t1, t2;
equation
  der(w1) = 0.5 - t1;
  5*der(w2) = t2;
  if gear == Gear.neutral then t1 = 0; t2 = 0;
  elseif gear == Gear.low then w1 = 3*w2; t2 = 3*t1;
  else w1 = 1.5*w2; t2 = 1.5*t1;
  end if;
  when change(gear) then last = pre(gear); end when;
end InputEnumeration;
