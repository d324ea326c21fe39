// Elements inherited more than once must be identical.
//
// model Identical.TwoWays
// error E0204 `p` is inherited along two ways that differ
// model Identical.OneWayModified
// error E0204 `p` is inherited along two ways that differ
// model Identical.SameOnBoth
// unknowns 1
// model Identical.SameText
// unknowns 1
// model Identical.DifferentValues
// error E0204 `x` is declared twice
// model Identical.EqualValues
// unknowns 1
// model Identical.DifferentTypes
// error E0204 `T` is declared twice
// model Identical.EqualTypes
// unknowns 2
// model Identical.Redeclared
// error E0204 `M` is inherited along two ways that differ
// model Identical.EqualSizes
// unknowns 2
// model Identical.DifferentStart
// error E0204 `x` is inherited along two ways that differ
// model Identical.AttributesOfOne
// unknowns 1
// model Identical.EqualClasses
// unknowns 1
// model Identical.DifferentClasses
// error E0204 `C` is declared twice
// model Identical.ExtendedHere
// unknowns 3
// model Identical.NotExtendedThere
// error E0201
// model Identical.BusOfInputs
// error E0404 only inputs are connected with it
// model Identical.FewerResiduals
// error E0406 has 6 flow variables, but 5 potential variables
package Identical
  model A
    parameter Real p = 1;
    Real x = p*time;
  end A;

  model B
    extends A(p = 2);
  end B;

  model C
    extends A(p = 3);
  end C;

  model D
    extends A(p = 2 /* as in B */ );
  end D;

  model TwoWays
    extends B;
    extends C;
  end TwoWays;

  model OneWayModified
    extends A;
    extends B;
  end OneWayModified;

  model SameOnBoth
    extends B(p = 4);
    extends C(p = 4);
  end SameOnBoth;

  model SameText
    extends B;
    extends D;
  end SameText;

  model Two
    Real x = 2;
  end Two;

  model Three
    Real x = 3;
  end Three;

  model AlsoTwo
    Real x = 2;
  end AlsoTwo;

  model DifferentValues
    extends Two;
    extends Three;
  end DifferentValues;

  model EqualValues
    extends Two;
    extends AlsoTwo;
  end EqualValues;

  model Metre
    type T = Real(unit = "m");
    T a = time;
  end Metre;

  model Second
    type T = Real(unit = "s");
    T b = time;
  end Second;

  model AlsoMetre
    type T = Real(unit="m");
    T b = 2*time;
  end AlsoMetre;

  model DifferentTypes
    extends Metre;
    extends Second;
  end DifferentTypes;

  model EqualTypes
    extends Metre;
    extends AlsoMetre;
  end EqualTypes;

  model Holder
    replaceable model M
      Real z = 1;
    end M;
    M m;
  end Holder;

  model Redeclaring
    extends Holder(redeclare model M = N);
    model N
      Real z = 2;
    end N;
  end Redeclaring;

  model Redeclared
    extends Redeclaring;
    extends Holder;
  end Redeclared;

  model Vector
    parameter Integer n = 2;
    Real v[n] = fill(time, n);
  end Vector;

  model AlsoVector
    parameter Integer n = 2;
    Real v[n] = fill(time, n);
  end AlsoVector;

  model EqualSizes
    extends Vector;
    extends AlsoVector;
  end EqualSizes;

  model DifferentStart
    extends A(x(start = 1));
    extends A(x(start = 2));
  end DifferentStart;

  model Plain
    Real y;
  end Plain;

  model WithAttributes
    Real y(min = 0, start = 3);
  equation
    y = 3 + time;
  end WithAttributes;

  model AttributesOfOne
    extends Plain;
    extends WithAttributes;
  end AttributesOfOne;

  model Inner
    model C
      Real x = 2;
    end C;
  end Inner;

  model EqualClasses
    extends Inner;
    model C // the same again
      Real x = 2;
    end C;
    C c;
  end EqualClasses;

  model DifferentClasses
    extends Inner;
    model C
      Real x = 3;
    end C;
    C c;
  end DifferentClasses;

  model ExtendedHere "Without redeclare, M stays what it was in the class that is inherited from"
    extends Holder;
    model extends M
      Real y = 2;
    end M;
    M new;
  end ExtendedHere;

  model NotExtendedThere
    extends Holder;
    model extends M
      Real y = 2;
    end M;
    Real y = m.y;
  end NotExtendedThere;

  connector RealInput = input Real;

  expandable connector Bus
  end Bus;

  model BusOfInputs
    model Sink
      RealInput u = 1.0;
    end Sink;
    model Inside
      Bus bus;
      Sink sink;
    equation
      connect(sink.u, bus.u);
    end Inside;
    Inside inside;
  end BusOfInputs;

  type Matrix = Real[3, 3];

  type Orientation
    extends Matrix;
    function equalityConstraint
      input Orientation R1;
      input Orientation R2;
      output Real residue[3];
    algorithm
      residue := {R1[1, 1], R1[2, 2], R2[1, 1]};
    end equalityConstraint;
  end Orientation;

  connector Frame
    Real r[2];
    Orientation R;
    flow Real f[3];
    flow Real t[3];
  end Frame;

  model FewerResiduals
    Frame frame(r = {1, 2}, R = identity(3));
  equation
    Connections.root(frame.R);
  end FewerResiduals;
end Identical;
