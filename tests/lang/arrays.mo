// model Arrays
// declaration parameter Integer n = 3
// variable x[2,3]
// equation x[1,1] = 11 + time
// equation s = x[1,1] + x[1,2] + x[1,3] + x[2,1] + x[2,2] + x[2,3]
// equation y[2] = 4.0
// equation v[1] = A[1,1] * w[1] + A[1,2] * w[2]
// equation t[1,2] = x[2,1]
// equation last = x[2,3]
// equation picked = if index == 1 then w[1] else if index == 2 then w[2] else missing(index)
model Arrays
  parameter Integer n = 3;
  parameter Real A[2, 2] = [1, 2; 3, 4];
  Real x[2, n] = {{10*i + j + time for j in 1:n} for i in 1:2};
  Real s = sum(x);
  Real y[3] = linspace(3, 5, 3);
  Real w[2] = {time, 2*time};
  Real v[2] = A*w;
  Real t[3, 2] = transpose(x);
  Real last = x[end, end];
  Integer index = if time > 1 then 2 else 1;
  Real picked = w[index];
  Boolean ok[2] = {w[i] > 1 for i};
end Arrays;

// model Segments
// variable part[3].u
// declaration parameter Real part[2].k = 20.0
// declaration parameter Real part[3].c = 7.0
// equation part[2].u = part[1].y
// unknowns 6
block Part
  input Real u;
  output Real y = k*u + c;
  parameter Real k = 1;
  parameter Real c = 0;
end Part;

model Segments
  Part part[3](k = {10, 20, 30}, each c = 7);
equation
  part[1].u = time;
  for i in 2:3 loop
    part[i].u = part[i - 1].y;
  end for;
end Segments;

// model WrongEach
// error E0302 each element of an array of components
model WrongEach
  Part part[3](k = 1);
end WrongEach;
