// saltus simulate ForOverVector.mo --stop 1
// Expected: s = f = r = 6*time, q[3] = 9*time^2. MLS 11.2.2 (for-statement), 10.3.4 (reduction), 10.4.1 (array constructor with
// iterators): the range is a vector expression; its length 3 is known here, only its values vary.
// Happens: E0304 for each of the four: "varies with time, but its value is needed before the simulation", in the function "is
// known when the function is called only".
model ForOverVector
  function sumOf
    input Real v[:];
    output Real s;
  algorithm
    s := 0;
    for x in v loop
      s := s + x;
    end for;
  end sumOf;
  Real v[3] = {time, 2*time, 3*time};
  Real f = sumOf(v);
  Real r = sum(x for x in v);
  Real q[3] = {x^2 for x in v};
  Real s;
algorithm
  s := 0;
  for x in v loop
    s := s + x;
  end for;
end ForOverVector;
