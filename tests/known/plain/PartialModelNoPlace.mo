// saltus simulate PartialModelNoPlace.mo
// Expected: "is partial" with a place (MLS 4.4.2: it is an error if a simulation model itself is partial).
// Happens: E0126 "holds no model", no place, nothing about partial (with --model it is told, E0208). And `model M Real time = 1; end M;` passes check, simulate
// says E0701 "`time` is the name of a column of every result" without a place (3.7: time is reserved).
partial model PartialModelNoPlace
  Real x = 1;
end PartialModelNoPlace;
