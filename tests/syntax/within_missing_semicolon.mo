within A.B
model M
end M;
// error[E0102] 1:11 missing `;` behind the within clause
