// printf 'time,u\n' > u.csv; saltus simulate InputNoRows.mo --input u.csv --stop 1
// Expected: an error or a warning: the file gives no value to u.
// Happens: completed, u = 0, not a word.
model InputNoRows
  input Real u;
  Real y = u + 1;
end InputNoRows;
