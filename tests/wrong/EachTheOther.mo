// says: error[E0508]: `EachTheOther` is singular
// says: too many: `0 = 0`
// fix: `b = a` -> `b = 1`
model EachTheOther "Two equations that say the same, and nothing else of their variables"
  Real a;
  Real b;
equation
  a = b;
  b = a;
end EachTheOther;
