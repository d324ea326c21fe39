// saltus check HangNestedSum.mo         (ulimit -t 5)
// Expected: ends within 5 s.
// Happens: no end after 40 s of processor time.
model HangNestedSum
  Real x = sum(sum(i*j*time for i in 1:1000) for j in 1:1000);
end HangNestedSum;
