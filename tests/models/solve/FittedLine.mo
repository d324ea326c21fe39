// A routine that is given an array to work in, whose values nobody sets, is evaluated before the run.
//
// run: stop = 1
// expect: y at 0 = 1 within 1e-12
// expect: y at 1 = 3 within 1e-12

model FittedLine "A line through three points"
  function fit "Least squares"
    input Real points[:, 2];
    input Real values[size(points, 1)];
    output Real line[size(points, 1)] = values;
    output Integer status;
  protected
    Integer rows = size(points, 1);
    Integer columns = 2;
    Integer one = 1;
    Real matrix[size(points, 1), 2] = points;
    Integer order[2] = {0, 0};
    Real smallest = 1e-12;
    Integer rank;
    Real work[3*size(points, 1) + 9];
    Integer length = 3*size(points, 1) + 9;
    external "FORTRAN 77" dgelsy(
      rows, columns, one, matrix, rows, line, rows, order, smallest, rank, work, length, status);
  end fit;
  constant Real line[3] = fit({{0, 1}, {1, 1}, {2, 1}}, {1, 3, 5});
  Real y;
equation
  y = line[1]*time + line[2];
end FittedLine;
