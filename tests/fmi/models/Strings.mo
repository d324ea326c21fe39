// unit: stop 2
model Strings
  String s;
  Integer n(start = 0, fixed = true);
  Real x(start = 1, fixed = true);
  output Boolean long;
equation
  der(x) = -x + n;
  when sample(0.3, 0.3) then n = pre(n) + 1; end when;
  s = if n > 3 then "many" else "few" + String(n);
  long = s == "many";
end Strings;
