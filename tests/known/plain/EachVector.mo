// saltus check EachVector.mo
// Expected: refused. MLS 7.2.5, example: `Real fail1[2](each start = {1, 2}); // Illegal`.
// Happens: accepted; x starts at {1, 2}.
model EachVector
  Real x[2](each start = {1, 2});
equation
  der(x) = {1, 1};
end EachVector;
