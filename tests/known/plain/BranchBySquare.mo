// saltus simulate BranchBySquare.mo --stop 37.938 --solver dop853 --tolerance 1e-6
// Expected: y = 2: the branch is taken while |z - 13.1357| < w, and der(y) is 1/w there.
// Happens: y = 0. A piece that begins where d*d = 1 is taken to have no other place where it is (`at_point` in
// events/resolution.rs looks at the first passage only), so that the middle of the piece is behind the branch.
model BranchBySquare
  parameter Real w = 0.02267870552579627;
  Real z(start = 0, fixed = true), y(start = 0, fixed = true), d;
equation
  der(z) = 1;
  d = (z - 13.135728809754186)/w;
  der(y) = noEvent(if d*d < 1 then 1/w else 0);
end BranchBySquare;
