// Comparisons between texts are decided by what the texts are.
//
// run: stop = 1
// expect: star at 0 = 1.7320508075688772 within 1e-15
// expect: delta at 0 = 1 within 0
// expect: chosen at 0 = 1 within 0
// expect: joined at 0 = 1 within 0
// expect: before at 0 = 1 within 0
// expect: answer at 0 = 3 within 0

function told "Tells texts apart"
  input String text;
  output Real number;
algorithm
  number := if text == "x" then 1 elseif text == "y" then 2 else 3;
end told;

record Winding
  parameter String connection = "Y";
  parameter Real factor = if connection == "D" then 1 else sqrt(3);
end Winding;

model Texts "Texts as parameters"
  parameter Boolean second = true;
  parameter String choice = if second then "b" else "a";
  Winding y;
  Winding d(connection = "D");
  Real star = y.factor;
  Real delta = d.factor;
  Boolean chosen = choice == "b" and choice <> "a";
  Boolean joined = y.connection + choice == "Yb";
  Boolean before = d.connection < y.connection;
  Real answer = told("z");
end Texts;
