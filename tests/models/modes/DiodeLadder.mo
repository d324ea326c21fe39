// A ladder of thirty ideal diodes that charges from nothing: for a while the voltages of the far sections are below every
// tolerance, and their diodes switch on values that are noise. The mode is found all the same.
//
// The values are those of two solvers at 1e-10, which agree to 1e-11.
//
// run: stop = 0.05
// run: tolerance = 1e-8
// expect: u[1] at 0.05 = 5.5152249674 within 1e-6
// expect: u[10] at 0.05 = 4.0272281924 within 1e-6
// expect: u[30] at 0.05 = 1.8906481926 within 1e-6
// expect: i[1] >= -1e-9 always
// expect: i[30] >= -1e-9 always

model DiodeLadder "Capacitors that are charged one through the other"
  parameter Integer n = 30;
  Real u[n](each start = 0, each fixed = true), i[n], s[n], from[n];
equation
  from[1] = 20*sin(314*time) + 9*sin(1130*time);
  for k in 2:n loop
    from[k] = u[k - 1];
  end for;
  for k in 1:n loop
    if s[k] > 0 then
      s[k] = i[k];
      from[k] - 0.5*i[k] - u[k] = 0;
    else
      s[k] = from[k] - 0.5*i[k] - u[k];
      i[k] = 0;
    end if;
    1e-4/(1 + 0.2*(k - 1))*der(u[k]) = i[k] - (0.005 + 0.01*mod(k - 1, 3))*u[k] - (if k < n then i[min(k + 1, n)] else 0);
  end for;
end DiodeLadder;
