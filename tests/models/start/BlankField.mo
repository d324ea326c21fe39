// A function leaves a field of a record without a value where nothing asks for it, and a parameter holds the record. Whoever
// gets it handed on looks at the field only where it has been given.
//
// Without a limit v is 2 - time; with one of 1.5 it is cut off.
//
// expect: free at 1 = 1 within 1e-12
// expect: cut at 0 = 1.5 within 1e-12
// expect: cut at 1 = 1 within 1e-12

model BlankField
  record Card
    Real slope, limit, isGiven;
  end Card;
  record Calculated
    Real slope, limit;
  end Calculated;
  function calculated
    input Card card;
    output Calculated c;
  algorithm
    c.slope := -card.slope;
    if card.isGiven > 0.5 then
      c.limit := card.limit;
    end if;
  end calculated;
  function value
    input Card card;
    input Calculated c;
    input Real t;
    output Real v;
  algorithm
    v := 2 + c.slope*t;
    if card.isGiven > 0.5 then
      v := min(v, c.limit);
    end if;
  end value;
  parameter Card without(slope = 1, limit = 0, isGiven = 0);
  parameter Card with(slope = 1, limit = 1.5, isGiven = 1);
  final parameter Calculated c = calculated(without);
  final parameter Calculated same = c;
  final parameter Calculated d = calculated(with);
  Real free = value(without, same, time);
  Real cut = value(with, d, time);
end BlankField;
