// Text that conditions leave out is checked for names and types, not for sizes and values.

// model UnknownFunction
// error E0201 the function `nowhere` is not known here
model UnknownFunction
  parameter Boolean b = true;
  Real u = if b then 1 else nowhere(3);
end UnknownFunction;

// model OtherType
// error E0301 the branches differ in type: Integer and String
model OtherType
  Real v = if true then 1 else "a";
end OtherType;

// model NoBoolean
// error E0301 a Boolean is needed, but this is Integer
model NoBoolean
  Boolean w = false and 3;
end NoBoolean;

// model OrNoBoolean
// error E0301 a Boolean is needed, but this is Real
model OrNoBoolean
  Boolean w = true or 2.5;
end OrNoBoolean;

// model EquationLeftOut
// error E0201 `undefined` is not known in
// error E0301 the sides differ in type: Real and String
model EquationLeftOut
  parameter Boolean b = true;
  Real x, y;
equation
  if b then
    x = 1;
    y = 1;
  else
    x = undefined + 1;
    y = "a";
  end if;
end EquationLeftOut;

// model ElseifLeftOut
// error E0301 a Boolean is needed, but this is Real
model ElseifLeftOut
  Real x;
equation
  if true then
    x = 1;
  elseif 2.0*3 then
    x = 2;
  else
    x = 3;
  end if;
end ElseifLeftOut;

// model LoopWithoutTurns
// error E0201 `undefined` is not known in
model LoopWithoutTurns
equation
  for i in 1:0 loop
    undefined[i] = 1;
  end for;
end LoopWithoutTurns;

// model StatementLeftOut
// error E0201 `z` is not known in
// error E0301 String is assigned to a variable of Real
model StatementLeftOut
  Real x;
algorithm
  x := 1;
  if false then
    z := 1;
    x := "text";
  end if;
end StatementLeftOut;

// model StatementLoopWithoutTurns
// error E0212 `sum2` has 2 inputs, but is given 3 arguments
function sum2
  input Real a;
  input Real b;
  output Real c = a + b;
algorithm
end sum2;

model StatementLoopWithoutTurns
  Real x;
algorithm
  x := 1;
  for i in 2:1 loop
    x := sum2(i, 1, 2);
  end for;
end StatementLoopWithoutTurns;

// model ComprehensionOfNothing
// error E0201 `q` is not known in
model ComprehensionOfNothing
  Real x = sum({q*i for i in 1:0});
end ComprehensionOfNothing;

// model ReductionOfNothing
// error E0201 `q` is not known in
model ReductionOfNothing
  Real x = sum(q*i for i in 1:0);
end ReductionOfNothing;

// model AbsentModified
// error E0205 has no element `nothing` to modify
model AbsentPart
  parameter Real k = 1;
end AbsentPart;

model AbsentModified
  AbsentPart part(nothing = 3) if false;
end AbsentModified;

// model AbsentValue
// error E0201 `unknown` is not known in
model AbsentValue
  AbsentPart part(k = unknown) if false;
end AbsentValue;

// model AbsentValueOfText
// error E0301 Real cannot be given String
model AbsentValueOfText
  AbsentPart part(k = "text") if false;
end AbsentValueOfText;

// model AbsentType
// error E0201 `NoSuchType` is not known in
model AbsentType
  NoSuchType part if false;
end AbsentType;

// model AbsentText
// error E0301 Real cannot be given String
model AbsentText
  Real part = "text" if false;
end AbsentText;

// model Overridden
// error E0201 `nowhere` is not known in
model WithDefault
  parameter Real p = nowhere;
end WithDefault;

model Overridden
  WithDefault w(p = 1);
end Overridden;

// model WrongArgument
// error E0301 input `a` is Real, but is given Boolean
model WrongArgument
  Real x = if false then sum2(true, 1) else 1;
end WrongArgument;

// model MissingArgument
// error E0212 needs the argument `b`
model MissingArgument
  Real x = if false then sum2(1) else 1;
end MissingArgument;

// model WrongName
// error E0212 has no input `q`
model WrongName
  Real x = if false then sum2(1, q = 1) else 1;
end WrongName;

// model NoField
// error E0201 has no element `w`
record Point
  Real u;
  Real v[2];
end Point;

model NoField
  Point p(u = 1, v = {1, 2});
  Real x = if true then 1 else p.w;
end NoField;

// model TooManySubscripts
// error E0302 2 subscripts for 1 dimensions
model TooManySubscripts
  Point p(u = 1, v = {1, 2});
  Real x = if true then 1 else p.v[1, 1];
end TooManySubscripts;

// model TextSubscript
// error E0301 a subscript must be an Integer, but this is String
model TextSubscript
  Point p(u = 1, v = {1, 2});
  Real x = if true then 1 else p.v["a"];
end TextSubscript;

// model NotOfNumber
// error E0301 `not` cannot be applied to Integer
model NotOfNumber
  Boolean x = if true then true else not 1;
end NotOfNumber;

// model SumOfTexts
// error E0301 `*` cannot be applied to String and Integer
model SumOfTexts
  Real x = if true then 1 else "a"*2;
end SumOfTexts;

// model NoLiteral
// error E0201 has no literal `blue`
type Colour = enumeration(red, green);

model NoLiteral
  Real x = if true then 1 else if c == Colour.blue then 1 else 2;
  Colour c = Colour.red;
end NoLiteral;

// model ConnectLeftOut
// error E0201 has no element `q`
connector Pin
  Real v;
  flow Real i;
end Pin;

model Load
  Pin p;
equation
  p.v = 1;
end Load;

model ConnectLeftOut
  Load a, b;
equation
  if false then
    connect(a.p, b.q);
  end if;
end ConnectLeftOut;

// model MessageOfNoUse
// error E0201 `nobody` is not known in
model MessageOfNoUse
equation
  assert(true, "said by " + nobody);
end MessageOfNoUse;

// model AbsentClass
// error E0201 `nothing` is not known in
// error E0301 the sides differ in type: Real and String
// error E0301 Real cannot be given Boolean
model Broken
  Real x = nothing;
  Inner i;
  model Inner
    Real y = true;
    Real z;
  equation
    z = "text";
  end Inner;
end Broken;

model AbsentClass
  parameter Boolean there = false;
  Broken b if there;
end AbsentClass;

// model EmptyArrayOfModels
// error E0201 `nothing` is not known in
model EmptyArrayOfModels
  parameter Integer n = 0;
  Broken b[n];
end EmptyArrayOfModels;

// What depends on sizes and values may be left out for good reason.

// model SizesMayDiffer
// nothing
model SizesMayDiffer
  parameter Integer n = 0;
  parameter Boolean matrix = false;
  Real x[n];
  Real first = if n > 0 then x[1] else 0;
  Real last = if n > 0 then x[end] else 0;
  Real y[2] = if matrix then zeros(3) else {1, 2};
  Real z = if n > 2 then x[1:3]*x[n - 2:n] else 1;
equation
  for i in 1:n loop
    x[i] = if i == 1 then 1 else x[i - 1] + sqrt(x[i]);
  end for;
  if n > 0 then
    x[n + 1] = first;
  end if;
end SizesMayDiffer;

// model OverloadedMayBe
// nothing
model OverloadedMayBe
  import Modelica = M;
  parameter Boolean b = false;
  Point p(u = 1, v = {1, 2});
  Point q[2](u = {1, 2}, v = {{1, 2}, {3, 4}});
  Real a = if b then q[2].v[1] + sum(q.u) + sum(q[i].u for i in 1:2) else 1;
  Real c = if b then sum2(a = 1, b = 2) + min(p.v) + max({1, 2}) + size(p.v, 1) else time;
  Real d[2] = if b then sum2({1, 2}, {3, 4}) else {1, 2};
  String text = if b then "a" + String(1.5, significantDigits = 3) else "b";
  Real e[2, 2] = if b then [1, 2; p.v[1], 4] else transpose([1, 2; 3, 4]);
  Real f = if b then {1, 2}*{3, 4} + (e*p.v)*p.v else 2;
  Boolean g = b and (p.u > 1 or a < 2 and not c >= 1);
equation
  if b then
    for i in 1:2, j in 1:i loop
      assert(q[i].v[j] > 0, "positive");
    end for;
    when time > 1 then
      terminate("end");
    end when;
  end if;
end OverloadedMayBe;

package M
end M;

// model AbsentMayBe
// nothing
model AbsentMayBe
  parameter Boolean b = false;
  AbsentPart part(k = 2*f) if b;
  Whole whole(n = 3) if b;
  Load load if b;
  Real x[if b then 2 else 0];
  parameter Real f = 2;
equation
  connect(load.p, load.p);
end AbsentMayBe;

model Whole
  extends Around;
  parameter Integer n = 2;
  parameter Real table[n, 2] = {{i, i^2} for i in 1:n};
  replaceable model Kind = AbsentPart;
  Kind kind(k = table[end, 2]);
  Kind kinds[n](k = table[:, 1]);
  Point p(u = 2*n, v = {time, kind.k});
  Real y[n], s = sum(kinds.k) + inherited;
  Colour c = if s > 1 then Colour.red else Colour.green;
  Load load;
protected
  Integer counter(start = 0);
equation
  for i in 1:n loop
    y[i] = sum2(i, kinds[i].k)*load.p.i;
  end for;
  when sample(0, 1) then
    counter = pre(counter) + 1;
  end when;
  assert(c == Colour.red, "green " + String(s) + " " + String(c));
end Whole;

partial model Around
  Real inherited = 1;
end Around;
