// model Breaks
// equation first := 1
// unknowns 4
model Breaks
  Real x[3] = {time, 2*time, 3*time};
  Integer first;
algorithm
  first := 0;
  for i in 1:3 loop
    if x[i] > 1 then
      first := i;
      break;
    end if;
  end for;
end Breaks;

// model Complexes
// equation z.re = a.re * b.re - a.im * b.im
// equation w.re = 2.0 * a.re - 0.0 * a.im
// unknowns 10
operator record Number
  Real re;
  Real im;
  encapsulated operator 'constructor'
    function fromReal
      import Number;
      input Real re;
      input Real im = 0;
      output Number result(re = re, im = im);
    algorithm
    end fromReal;
  end 'constructor';
  encapsulated operator '*'
    function multiply
      import Number;
      input Number a;
      input Number b;
      output Number c;
    algorithm
      c := Number(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re);
    end multiply;
  end '*';
  encapsulated operator '+'
    function add
      import Number;
      input Number a;
      input Number b;
      output Number c;
    algorithm
      c := Number(a.re + b.re, a.im + b.im);
    end add;
  end '+';
  encapsulated operator function '0'
    import Number;
    output Number c = Number(0);
  algorithm
  end '0';
end Number;

model Complexes
  Number a = Number(time, 1);
  Number b = Number(2, time);
  Number z = a*b;
  Number w = 2*a;
  Number s = sum({a, b});
end Complexes;

// model Tables
// equation y = table1(time)
// declaration function table1
// unknowns 1
class Table
  extends ExternalObject;
  function constructor
    input String tableName;
    input String fileName;
    input Real table[:, :];
    input Integer columns[:];
    input Integer smoothness;
    output Table object;
    external "C" object = ModelicaStandardTables_CombiTable1D_init3(fileName, tableName, table, size(table, 1), size(table, 2), columns, size(columns, 1), smoothness);
  end constructor;
  function destructor
    input Table object;
    external "C" ModelicaStandardTables_CombiTable1D_close(object);
  end destructor;
end Table;

function lookup
  input Table object;
  input Integer column;
  input Real u;
  output Real y;
  external "C" y = ModelicaStandardTables_CombiTable1D_getValue(object, column, u);
end lookup;

model Tables
  parameter Table table = Table("NoName", "NoName", [0, 1; 1, 3], {2}, 1);
  Real y = lookup(table, 1, time);
end Tables;

// model Solved
// equation y = solve(time)
// unknowns 1
partial function Curve
  input Real u;
  output Real y;
end Curve;

function parabola
  extends Curve;
  input Real p;
algorithm
  y := u*u - p;
end parabola;

function root
  input Curve f;
  output Real x;
protected
  Real low = 0;
  Real high = 10;
algorithm
  while high - low > 1e-6 loop
    x := (low + high)/2;
    if f(x) > 0 then
      high := x;
    else
      low := x;
    end if;
  end while;
end root;

function solve
  input Real p;
  output Real x;
protected
  Real unused = 0;
algorithm
  x := root(function parabola(p = p));
  unused := x;
end solve;

model Solved
  Real y = solve(time);
  parameter Real known = solve(4);
end Solved;
