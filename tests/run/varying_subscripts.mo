// Elements under a subscript that varies, in conditions without events and in Boolean arrays: the equation counts once, for the element
// that is meant.
//
// model VaryingSubscripts.WithoutEvents
// stop 1
// final y 4.2
// model VaryingSubscripts.OfBooleans
// stop 1
// final y 1
// model VaryingSubscripts.InBoth
// stop 1
// final y 3
package VaryingSubscripts
  model WithoutEvents
    Integer i = if time > 5 then 2 else 1;
    Real s(start = 0, fixed = true);
    Real v[2] = {1 - s, 4.2 - s};
    Real y;
  equation
    der(s) = 0;
    y = if noEvent(v[i] >= 1) then v[2] else 2;
  end WithoutEvents;

  model OfBooleans
    Integer i = 1 + (if time > 0.5 then 1 else 0);
    Real s(start = 0, fixed = true);
    Boolean bv[2] = {time > 0.25, s > 0.75};
    Real y;
  equation
    der(s) = 1;
    y = (if bv[i] then s else 1)*(if i == 2 then s else 2);
  end OfBooleans;

  model InBoth
    Integer i = 1 + (if time > 0.3 then 1 else 0) + (if time > 0.6 then 1 else 0);
    Real s(start = 0, fixed = true);
    Boolean bv[3] = {s > 2, s > 0.1, s < 5};
    Real y;
  equation
    der(s) = 1;
    y = (if bv[i] then 2 + s else 0)*(if noEvent(bv[i] and i > 1) then 1 else 7);
  end InBoth;
end VaryingSubscripts;
