Real x;
model A
end A;
;
end B;
within P;
model C
end C;
// error[E0101] 1:1 expected a class definition, found `Real`
// error[E0101] 4:1 expected a class (this `;` is superfluous), found `;`
