// saltus simulate LongForMessage.mo --stop 1
// Expected: either runs, or the message says that the loop of this algorithm takes too many turns.
// Happens: "function `` does not end: more than 1000000 statements or calls nested deeper than 200": no name, and the loop
// does end.
model LongForMessage
  Real x;
algorithm
  x := 0;
  for i in 1:100000000 loop
    x := x + time;
  end for;
end LongForMessage;
