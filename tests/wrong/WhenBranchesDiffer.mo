// says: error[E0521]: only some branches of this when-equation define `level`
// says: error[E0521]: only some branches of this if-equation inside `when` define `level`
// says: add `level = pre(level)` to the branches that leave it as it is
// fix: `alarms = pre(alarms) + 2;` -> `alarms = pre(alarms) + 2; level = pre(level);`
// fix: `level = 1;` -> `level = 1; else level = pre(level);`
model WhenBranchesDiffer "Two counters in one when-equation"
  Real x(start = 0, fixed = true);
  Integer alarms(start = 0, fixed = true), level(start = 0, fixed = true);
equation
  der(x) = 1;
  when x > 0.5 then
    alarms = pre(alarms) + 1;
    if time > 0.6 then
      level = 1;
    end if;
  elsewhen x > 0.8 then
    alarms = pre(alarms) + 2;
  end when;
end WhenBranchesDiffer;
