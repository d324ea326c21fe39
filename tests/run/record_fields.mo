// Functions that assign some fields of a record: what is not used need not have a value, what is used must.
//
// model RecordFields.OtherField
// final y 1
// model RecordFields.OtherFieldKnown
// final y 0.2
// model RecordFields.PassedOn
// final y 1
// model RecordFields.PassedOnKnown
// final y 0.2
// model RecordFields.Whole
// fails E0608
// model RecordFields.Used
// fails E0608
// model RecordFields.UsedKnown
// refused E0511 `p.b` is used before it has been assigned
// model RecordFields.Compared
// fails E0609 gave it no value
// model RecordFields.ComparedWithValue
// final y 1
package RecordFields
  record P
    Real a;
    Real b;
    Real c;
  end P;

  function f
    input Real x;
    output P p;
  algorithm
    p.a := x;
    if x > 0.5 then
      p.b := 2*x;
    else
      p.c := 3*x;
    end if;
  end f;

  function first
    input Real x;
    output Real y;
  protected
    P p;
  algorithm
    p := f(x);
    y := p.a;
  end first;

  function second
    input Real x;
    output Real y;
  protected
    P p;
  algorithm
    p := f(x);
    y := p.b;
  end second;

  function firstOf
    input P p;
    output Real y;
  algorithm
    y := p.a;
  end firstOf;

  function passed
    input Real x;
    output Real y;
  protected
    P p;
    P q;
  algorithm
    p := f(x);
    q := p;
    y := firstOf(q);
  end passed;

  function pick
    input P p;
    output Real y;
  algorithm
    y := if p.b > 0 then 1 else 2;
  end pick;

  function picked
    input Real x;
    output Real y;
  algorithm
    y := pick(f(x));
  end picked;

  model OtherField
    Real y = first(time);
  end OtherField;

  model OtherFieldKnown
    Real y = first(0.2)*time;
  end OtherFieldKnown;

  model PassedOn
    Real y = passed(time);
  end PassedOn;

  model PassedOnKnown
    Real y = passed(0.2)*time;
  end PassedOnKnown;

  model Whole
    P p = f(time);
  end Whole;

  model Used
    Real y = second(time);
  end Used;

  model UsedKnown
    Real y = second(0.2)*time;
  end UsedKnown;

  model Compared
    Real y = picked(time);
  end Compared;

  model ComparedWithValue
    Real y = picked(0.9)*time;
  end ComparedWithValue;
end RecordFields;
