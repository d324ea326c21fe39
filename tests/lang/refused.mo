// Rules of the Language Specification on declarations, each broken once and kept once.

// model ConstantNotFixed
// error E0311 the constant `c` cannot have `fixed = false`
model ConstantNotFixed
  constant Real c(fixed = false) = 1;
  Real x = c;
end ConstantNotFixed;

// model EachOnScalar
// warning W0207 `each` without an array: `a.p` is a scalar
model Part
  parameter Real p = 1;
  parameter Real v[2] = {1, 2};
end Part;

model EachOnScalar
  Part a(each p = 2);
end EachOnScalar;

// model EachAttributeOnScalar
// warning W0207 `each` without an array: `x` is a scalar
model EachAttributeOnScalar
  Real x(each start = 1);
equation
  der(x) = 1;
end EachAttributeOnScalar;

// model EachVector
// error E0302 `each` gives every element this value, which must be a scalar, not Integer[2]
model EachVector
  Real x[2](each start = {1, 2});
equation
  der(x) = {1, 1};
end EachVector;

// model EachRight
// nothing
// declaration parameter Real w[2].inside.p = 4.0
model Around
  Part inside(p = 3);
  Part several[2](each p = 5);
end Around;

model EachRight
  Part a[2](each p = 2, each v = {3, 4});
  Around w[2](inside(each p = 4));
  Around y(several(each p = 6));
  Around z[2](each several(p = {7, 8}));
  Real x[2](each start = 1);
equation
  der(x) = {1, 1};
end EachRight;

// model ExtendsReplaceable
// error E0217 `M` is replaceable and cannot be extended here
model Q
  replaceable model M
    Real x = 1;
  end M;
  model N
    extends M;
  end N;
  N n;
end Q;

model ExtendsReplaceable
  Q q;
end ExtendsReplaceable;

// model ExtendsInReplaceable
// error E0217 `P` is replaceable and cannot be extended here
model Q2
  replaceable package P
    model M
      Real x = 1;
    end M;
  end P;
  model N
    extends P.M;
  end N;
  N n;
end Q2;

model ExtendsInReplaceable
  Q2 q;
end ExtendsInReplaceable;

// model ImpureInEquation
// error E0311 the impure function `draw` is called outside of events
impure function draw
  input Real x;
  output Real y = x;
algorithm
end draw;

model ImpureInEquation
  Real y = draw(time);
end ImpureInEquation;

// model ImpureInEquationSection
// error E0311 the impure function `draw` is called outside of events
model ImpureInEquationSection
  Real y;
equation
  y = 2*draw(time);
end ImpureInEquationSection;

// model ImpureInAlgorithm
// error E0311 the impure function `draw` is called outside of events
model ImpureInAlgorithm
  Real y;
algorithm
  y := draw(time);
end ImpureInAlgorithm;

// model ImpureRight
// nothing
model ImpureRight
  parameter Real p = draw(1);
  discrete Real a, b(start = 0);
  Real c = pure(draw(time));
  Real d;
initial equation
  d = draw(2);
equation
  der(d) = 1;
  when time > 1 then
    a = draw(time);
  end when;
algorithm
  when time > 2 then
    b := draw(time);
  end when;
end ImpureRight;

// model ModelsEquated
// error E0202 this is a model, which has no value
model Thing
  Real x = 1;
end Thing;

model ModelsEquated
  Thing a, b;
equation
  a = b;
end ModelsEquated;

// model RecordHoldsModel
// error E0216 a record cannot hold the model `m`
record HoldsModel
  Thing m;
end HoldsModel;

model RecordHoldsModel
  HoldsModel r;
end RecordHoldsModel;

// model RedeclareDimensions
// error E0207 `b` has 1 dimensions and cannot be redeclared with 2
model Shelf
  replaceable Thing b[2];
end Shelf;

model RedeclareDimensions
  Shelf a(redeclare Thing b[2, 2]);
end RedeclareDimensions;

// model RedeclareSizes
// nothing
// variable a.b[3].x
model RedeclareSizes
  Shelf a(redeclare Thing b[3]);
end RedeclareSizes;

// model RedeclareWithCondition
// error E0207 the redeclaration of `b` cannot have a condition
model RedeclareWithCondition
  Shelf a(redeclare Thing b[2] if false);
end RedeclareWithCondition;

// model SimpleConnectorPlain
// warning E0216 `u` is a simple connector and must be an input or output
connector Plain = Real;

model PlainPart
  Plain u;
equation
  u = 1;
end PlainPart;

model SimpleConnectorPlain
  PlainPart m;
end SimpleConnectorPlain;

// model SimpleConnectorRight
// nothing
model DirectedPart
  input Plain u;
  output Plain y = 2*u;
protected
  Plain inside = u;
end DirectedPart;

model SimpleConnectorRight
  DirectedPart m(u = 1);
end SimpleConnectorRight;

// model OperatorNotEncapsulated
// warning E0216 the operator '+' must be encapsulated
operator record O1
  Real x;
  operator '+'
    function a
      input O1 p;
      input O1 q;
      output O1 r;
    algorithm
      r := O1(p.x + q.x);
    end a;
  end '+';
end O1;

model OperatorNotEncapsulated
  O1 a(x = 1);
end OperatorNotEncapsulated;

// model OperatorTwoOutputs
// error E0216 must have one output, not 2
operator record O2
  Real x;
  encapsulated operator function '+'
    import O2;
    input O2 p;
    input O2 q;
    output O2 r;
    output Real z;
  algorithm
    r := O2(p.x + q.x);
    z := 1;
  end '+';
end O2;

model OperatorTwoOutputs
  O2 a(x = 1);
  O2 c = a + a;
end OperatorTwoOutputs;

// model OperatorUnknownName
// warning E0216 there is no operator `'foo'`
operator record O3
  Real x;
  encapsulated operator 'foo'
    function a
      import O3;
      input O3 p;
      output O3 q;
    algorithm
      q := p;
    end a;
  end 'foo';
end O3;

model OperatorUnknownName
  O3 o(x = 1);
end OperatorUnknownName;

// model OperatorElsewhere
// warning E0216 the operator function `'-'` stands outside of an operator record
model OperatorElsewhere
  encapsulated operator function '-'
    input Real p;
    output Real r = p;
  algorithm
  end '-';
  Real x = 1;
end OperatorElsewhere;

// model NamedTime
// error E0218 `time` is the time of the simulation and cannot be declared
model NamedTime
  Real time = 1;
end NamedTime;

// model StringByPosition
// warning E0212 the options of `String` are given by name
model StringByPosition
  String s = String(3.5, 6);
end StringByPosition;

// model StringTwoWays
// error E0212 `format` cannot be combined with `minimumLength`
model StringTwoWays
  String s = String(3.5, format = ".2f", minimumLength = 3);
end StringTwoWays;

// model StringFormats
// nothing
// equation n = 1
model StringFormats
  Integer n = if String(255, format = "x") == "ff" and String(8, format = "#o") == "010" and String(65, format = "c") == "A" then 1 else 0;
end StringFormats;

// model ExternalObjectWithVariable
// error E0216 an external object has a constructor and a destructor only
class Handle
  extends ExternalObject;
  Real x;
  function constructor
    output Handle handle;
    external "C" handle = open_handle();
  end constructor;
  function destructor
    input Handle handle;
    external "C" close_handle(handle);
  end destructor;
end Handle;

model ExternalObjectWithVariable
  Handle h = Handle();
end ExternalObjectWithVariable;

// model ExternalObjectWithoutEnd
// error E0216 the external object `Endless` has no destructor
class Endless
  extends ExternalObject;
  function constructor
    output Endless handle;
    external "C" handle = open_handle();
  end constructor;
end Endless;

model ExternalObjectWithoutEnd
  Endless h = Endless();
end ExternalObjectWithoutEnd;

// model ExperimentOfText
// error E0312 `StopTime` must be a number, but this is String
// error E0312 the tolerance -1 is not positive
// error E0312 the interval -1 is negative
model ExperimentOfText
  Real x = 1;
  annotation(experiment(StopTime = "a", Tolerance = -1, Interval = -1));
end ExperimentOfText;

// model ExperimentBackwards
// error E0312 the run would stop at 1 before it starts at 2
model ExperimentBackwards
  Real x = 1;
  annotation(experiment(StartTime = 2, StopTime = 1));
end ExperimentBackwards;

// model ExperimentMisspelt
// warning W0206 `experiment` has no setting `Stoptime`
model ExperimentMisspelt
  Real x = 1;
  annotation(experiment(Stoptime = 2));
end ExperimentMisspelt;

// model ExperimentRight
// nothing
model ExperimentRight
  constant Real span = 3;
  Real x = 1;
  annotation(experiment(StartTime = -1, StopTime = 2*span, Tolerance = 1e-6, Interval = 0, __Other_Setting = "x"));
end ExperimentRight;

// model ImportUnknown
// error E0201 there is no top-level class `Nowhere`
model ImportUnknown
  import Nowhere.Something;
  Real x = 1;
end ImportUnknown;

// model ImportUnknownMember
// error E0201 `Stock` has no element `shoe`
package Stock
  constant Real hat = 1;
end Stock;

model ImportUnknownMember
  import Stock.{hat,shoe};
  Real x = hat;
end ImportUnknownMember;

// model RedeclareOwn
// error E0207 there is no inherited element `x` to redeclare
model RedeclareOwn
  replaceable Real x = 1;
  redeclare Real x = 2;
end RedeclareOwn;

// model AssignedTwice
// error E0311 `a` is given two values
function pair
  input Real x;
  output Real a = x;
  output Real b = 2*x;
algorithm
end pair;

model AssignedTwice
  Real a;
algorithm
  (a, a) := pair(1);
end AssignedTwice;

// model DiscreteWithValue
// error E0303 the discrete `x` can be determined in a `when` only
model DiscreteWithValue
  discrete Real x = 1.0;
end DiscreteWithValue;

// model WhenSetsInputOfPart
// error E0303 `b.x` belongs to `b` and cannot be set here
block Takes
  discrete input Real x;
end Takes;

model WhenSetsInputOfPart
  Takes b;
equation
  when sample(0, 1) then
    b.x = 1.0;
  end when;
end WhenSetsInputOfPart;

// model MessageIsNumber
// error E0301 a String is needed, but this is Integer
model MessageIsNumber
  Real x = time;
equation
  assert(true, 3);
end MessageIsNumber;

// model BreakOutsideOfLoop
// error E0311 `break` can only be used in loops
function broken
  input Real x;
  output Real y;
algorithm
  y := x;
  if x > 0 then
    break;
  end if;
end broken;

model BreakOutsideOfLoop
  Real y = broken(time);
end BreakOutsideOfLoop;
