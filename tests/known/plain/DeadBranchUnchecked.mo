// saltus check DeadBranchUnchecked.mo
// Expected: refused. MLS 3.3/6.7: both branches must be type compatible; 3.5: and/or need Boolean operands; 5.3: names must be
// found. b is a parameter that may be changed (--set b=false).
// Happens: check and simulate accept it without a word. Each line alone too.
model DeadBranchUnchecked
  parameter Boolean b = true;
  Real u = if b then 1 else nowhere(3);
  Real v = if true then 1 else "a";
  Boolean w = false and 3;
  Real x;
equation
  if b then
    x = 1;
  else
    x = undefined + "a";
  end if;
  for i in 1:0 loop
    undefined[i] = 1;
  end for;
end DeadBranchUnchecked;
