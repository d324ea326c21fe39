// Strings that vary, and what `String(…)` writes.
//
package Texts
// model Texts.Chosen
// stop 0.75
// final y 1
  model Chosen
    String s(start = "no", fixed = true);
    Real y = if s == "yes" then 1 else 0;
  equation
    when time > 0.5 then
      s = "yes";
    end when;
  end Chosen;

// model Texts.Written
// fails E0609 x=0.5 n=7 b=true e=Texts.E.two
  type E = enumeration(one, two);
  model Written
    parameter Integer n = 7;
    parameter Boolean b = true;
    Real x = time;
    E e = if time > 0.2 then E.two else E.one;
  equation
    when time >= 0.5 then
      assert(x < 0.4, "x=" + String(x) + " n=" + String(n) + " b=" + String(b) + " e=Texts.E." + String(e));
    end when;
  end Written;

// model Texts.Formats
// fails E0609 [0.3333][   2.718][7    ][    7][1.23e+04][true ][00042]
  model Formats
    parameter Real third = 1/3;
    parameter Integer n = 7;
    parameter Boolean b = true;
    parameter Real large = 12345.678;
    parameter Integer k = 42;
  equation
    assert(time < -1, "[" + String(third, significantDigits = 4) + "]["
      + String(exp(time + 1), format = "8.3f") + "]["
      + String(n, minimumLength = 5) + "]["
      + String(n, minimumLength = 5, leftJustified = false) + "]["
      + String(large, format = ".2e") + "]["
      + String(b, minimumLength = 5) + "]["
      + String(k, format = "05d") + "]");
  end Formats;

// model Texts.InFunctions
// fails E0608 argument -0.5 of type Real
  model InFunctions
    function root
      input Real x;
      output Real y;
    algorithm
      assert(x >= 0, "argument " + String(x) + " of type " + "Real");
      y := sqrt(x);
    end root;
    Real y = root(x);
    discrete Real x(start = 1, fixed = true);
  equation
    when time > 0.5 then
      x = -0.5;
    end when;
  end InFunctions;

// model Texts.Joined
// final same 1
// final less 1
// final k 1
  model Joined
    String s(start = "", fixed = true);
    Integer n(start = 0, fixed = true);
    Boolean same = s == "1;2;3;4;5;";
    Boolean less = s < "1;2;4;";
    Integer k(start = 0, fixed = true);
  equation
    when sample(0.1, 0.2) then
      n = pre(n) + 1;
      s = pre(s) + String(n) + ";";
    end when;
    when s == "1;2;" then
      k = pre(k) + 1;
    end when;
  end Joined;

// model Texts.ByCondition
// final y 3
  model ByCondition
    String s = if time < 0.3 then "low" elseif time < 0.6 then "middle" else "high";
    Real y = if s == "low" then 1 elseif s == "middle" then 2 else 3;
  end ByCondition;

// model Texts.Followed
// final n 2
  model Followed
    String s = if time < 0.3 then "low" elseif time < 0.6 then "middle" else "high";
    Integer n(start = 0, fixed = true);
  equation
    when change(s) then
      n = pre(n) + 1;
    end when;
  end Followed;

// model Texts.InAlgorithms
// final n 5
  model InAlgorithms
    String s;
    Integer n;
  algorithm
    s := "a";
    if time > 0.5 then
      s := s + "b";
    end if;
    s := s + s;
    n := if s == "abab" then 5 else 6;
  end InAlgorithms;

// model Texts.AsArguments
// final y 2
// final z 20
  model AsArguments
    function code
      input String s;
      output Integer n;
    protected
      String t;
    algorithm
      t := s + "!";
      if t == "a!" then
        n := 1;
      elseif t > "a!" then
        n := 2;
      else
        n := 3;
      end if;
    end code;
    function name
      input Integer n;
      output String s;
    protected
      Integer m;
    algorithm
      m := n;
      s := if m == 1 then "a" else "b" + String(m);
    end name;
    Integer i = if time < 0.5 then 1 else 2;
    Real y = code(name(i));
    Integer z = 10*code(if time < 0.5 then "a" else "b");
  end AsArguments;

// model Texts.ParametersOfParameters
// fails E0609 unit m at 3
  model ParametersOfParameters
    parameter Integer n = 3;
    parameter String u = "m";
    parameter String name = "unit " + u + " at " + String(n);
  equation
    assert(time < 0, name);
  end ParametersOfParameters;

// model Texts.Options
// refused E0212 has no argument
  model Options
    parameter Integer n = 3;
    Real x = time;
  equation
    assert(x < 2, String(n, significantDigits = 3));
  end Options;

// model Texts.Conversion
// refused E0301
  model Conversion
    Real x = time;
  equation
    assert(x < 2, String(x, format = "no"));
  end Conversion;
end Texts;
