// run: this algorithm takes too long
// run: LoopTooLong.mo:8
// fix: `100000000` -> `100`
model LoopTooLong "A loop of a hundred million turns, at every step"
  Real x;

algorithm
  x := 0;
  for i in 1:100000000 loop
    x := x + time;
  end for;
end LoopTooLong;
