// saltus check MemoryConstantArrays.mo         (limit 1 GiB, 5 s)
// Expected: an error with a place before 1 GiB is used.
// Happens: 1.5 GiB, then E0307 (60000000 steps). Others: twenty such local arrays in a function (1.95 GiB, accepted), a recursive
// function of depth 500 with a local array of 1e5 (1.5 GiB, accepted), cat(1, fill(1.0, 2000000), ... 30 times) (1.8 GiB),
// `Real x[2000000] = fill(time, 2000000)` (2.1 GiB, 17 s), Real A[120, 120]; B = A*A (1.06 GiB, 9 s).
package P
  constant Real a0[2900000] = fill(0, 2900000);
  constant Real a1[2900000] = fill(1, 2900000);
  constant Real a2[2900000] = fill(2, 2900000);
  constant Real a3[2900000] = fill(3, 2900000);
  constant Real a4[2900000] = fill(4, 2900000);
  constant Real a5[2900000] = fill(5, 2900000);
  constant Real a6[2900000] = fill(6, 2900000);
  constant Real a7[2900000] = fill(7, 2900000);
  constant Real a8[2900000] = fill(8, 2900000);
  constant Real a9[2900000] = fill(9, 2900000);
end P;
model MemoryConstantArrays
  Real y = sum(P.a0) + sum(P.a1) + sum(P.a2) + sum(P.a3) + sum(P.a4) + sum(P.a5) + sum(P.a6) + sum(P.a7) + sum(P.a8) + sum(P.a9);
end MemoryConstantArrays;
