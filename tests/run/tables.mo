// model Tables.Forbidden
// stop 2
// fails E0608 above the last abscissa
// at 1
// model Tables.Inside
// stop 1
// final y 4
// model Tables.Monotone
// stop 2
// final steps 1
// final akima 0.5
package Tables
  class Table1D
    extends ExternalObject;
    function constructor
      input String tableName;
      input String fileName;
      input Real table[:, :];
      input Integer columns[:];
      input Integer smoothness;
      input Integer extrapolation;
      output Table1D object;
      external "C" object = ModelicaStandardTables_CombiTable1D_init3(
        fileName, tableName, table, size(table, 1), size(table, 2), columns, size(columns, 1), smoothness, extrapolation);
    end constructor;
    function destructor
      input Table1D object;
      external "C" ModelicaStandardTables_CombiTable1D_close(object);
    end destructor;
  end Table1D;

  function value
    input Table1D object;
    input Integer column;
    input Real u;
    output Real y;
    external "C" y = ModelicaStandardTables_CombiTable1D_getValue(object, column, u);
  end value;

  block Lookup
    parameter Real table[:, :];
    parameter Integer smoothness = 1;
    parameter Integer extrapolation = 4;
    parameter Table1D object = Table1D("NoName", "NoName", table, {2}, smoothness, extrapolation);
    input Real u;
    output Real y = value(object, 1, u);
  end Lookup;

  model Forbidden
    Lookup lookup(table = [0, 0; 1, 1; 2, 4]);
    Real y;
  equation
    lookup.u = 2*time;
    y = lookup.y;
  end Forbidden;

  model Inside
    Lookup lookup(table = [0, 0; 1, 1; 2, 4]);
    Real y;
  equation
    lookup.u = 2*time;
    y = lookup.y;
  end Inside;

  model Monotone "data that stay flat after a step"
    Lookup step(table = [0, 0; 1, 0; 2, 1; 3, 1; 4, 1], smoothness = 5);
    Lookup smooth(table = [0, 0; 1, 0; 2, 1; 3, 0; 4, 1], smoothness = 2);
    Real steps = step.y, akima = smooth.y;
  equation
    step.u = 1.25*time;
    smooth.u = 0.75*time;
  end Monotone;
end Tables;
