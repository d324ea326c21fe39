// Vectors of known length and varying elements as ranges of iterators and as subscripts.
//
package VaryingVectors
// model VaryingVectors.Iterators
// final f 6
// final g 14
// final r 6
// final q[3] 9
// final m[2,1] 4
// final s 6
// final p 0.375
  model Iterators
    function sumOf input Real v[:]; output Real s; algorithm s := 0; for x in v loop s := s + x; end for; end sumOf;
    function squares input Real v[:]; output Real s; algorithm s := 0; for x in {y^2 for y in v} loop s := s + x; end for; end squares;
    Real v[3] = {time, 2*time, 3*time};
    Real f = sumOf(v);
    Real g = squares(v);
    Real r = sum(x for x in v);
    Real q[3] = {x^2 for x in v};
    Real m[2, 2] = {x*y for x in v[2:3], y in {time, 2*time}};
    Real p = product(0.5*x for x in v)/2;
    Real s;
  algorithm
    s := 0;
    for x in v loop
      s := s + x;
    end for;
  end Iterators;
// model VaryingVectors.Copied
// final y 6
  model Copied "the vector is what it was before the loop"
    function f input Real u; output Real y; protected Real v[3] = {1, 2, u};
    algorithm
      y := 0;
      for x in v loop
        v := {0, 0, 0};
        y := y + x;
      end for;
    end f;
    Real y = f(3*time);
  end Copied;
// model VaryingVectors.Broken
// final y 3
  model Broken "break leaves it"
    function f input Real v[:]; output Real y;
    algorithm
      y := 0;
      for x in v loop
        if x > 2.5 then break; end if;
        y := y + x;
      end for;
    end f;
    Real y = f({time, 2*time, 3*time});
  end Broken;
// model VaryingVectors.Subscripts
// final w[1] 1
// final w[2] 3
// final a[1,1] 12
// final a[2,2] 31
// final n 2
// final f[1] 3
// final f[2] 1
  model Subscripts
    function pick input Real v[:]; input Integer k[2]; output Real w[2]; algorithm w := v[k]; end pick;
    Integer k[2] = {1, if time > 0.5 then 3 else 2};
    Real v[3] = {1, 2, 3};
    Real w[2] = v[k];
    Real b[3, 2] = {{11, 12}, {21, 22}, {31, 32}};
    Integer j[2] = {2, if time > 0.5 then 1 else 2};
    Real a[2, 2] = b[k, j];
    Integer n = size(v[k], 1);
    Real f[2] = pick(v, {k[2], k[1]});
  end Subscripts;
// model VaryingVectors.Outside
// fails E0608 of `v` is outside 1..3
  model Outside
    Integer k[2] = {1, if time > 0.5 then 4 else 2};
    Real v[3] = {1, 2, 3};
    Real w[2] = v[k];
  end Outside;
end VaryingVectors;
