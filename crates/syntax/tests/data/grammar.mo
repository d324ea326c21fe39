// Every production of appendix A of the Modelica Language Specification 3.6.
within Some.Where;
final encapsulated partial package Everything "a" + "b"
  import A;
  import .B.C;
  import D = A.B;
  import A.B.*;
  import A.{x, y, z} "imported";
  extends .Base.Class(a = 1, final b(c = 2) = 3, redeclare replaceable model X = Y constrainedby Z(q = 1)) annotation (A);
  extends Other(break a, break connect(b.c[1], d), e = break);
  class Plain end Plain;
  operator record Complex
    encapsulated operator 'constructor'
      function fromReal
        input Real re;
        output Complex result(re = re);
      algorithm
      end fromReal;
    end 'constructor';
    operator function '+' = add;
  end Complex;
  expandable connector Bus end Bus;
  connector Pin
    Real v;
    flow Real i;
    stream Real h;
  end Pin;
  connector In = input Real[3, :](each min = 0) "in" annotation (B);
  type E = enumeration(one "first" annotation (C), two, 'three');
  type F = enumeration(:);
  type G = output Integer;
  function f_x = der(.f, x, y) "derivative";
  pure function p
    input Real x = 1;
    input Real y[:];
    output Real z;
    external "C" z = p_(x, y, size(y, 1)) annotation (Library = "m");
    annotation (Inline = true);
  end p;
  impure function q
    external;
  end q;
  function r external "builtin" r(); end r;
  replaceable model N = M constrainedby M "n" annotation (choices(choice(redeclare model N = M "m")));
  redeclare final inner outer replaceable Real z;
  redeclare model extends R(a = 1) "extended"
    Real w;
  end R;
  block Body
    parameter Real a[2] = {1, 2}, b(start = 1) = 2 if use "b";
    constant Integer n = 3;
    discrete input Boolean u;
    Real[3] v[2](each fixed = true);
    .Global.Type g(redeclare each final Real x[2] = {1, 2} "x", replaceable Real y = 1, each final replaceable Real z);
  protected
    Real 'quoted \' name' := 1;
  public
    Real x;
  initial equation
    x = 1;
  equation
    x + 1 = y "described" annotation (D);
    (a, , b) = f(1, 2, c = 3);
    () = f();
    if a then
      x = 1;
    elseif b then
      x = 2;
    else
      x = 3;
    end if;
    for i in 1:3, j loop
      v[i, j] = i;
    end for;
    when {sample(0, 1), initial()} then
      reinit(x, pre(x));
    elsewhen x > 1 then
      terminate("done");
    end when;
    connect(a.b[1].c, .d) annotation (Line(points = {{1, 2}, {-3, 4}}));
    assert(x < 1, "no", AssertionLevel.warning);
    transition(s1, s2, x > 1, immediate = false);
    for i loop
    end for;
  initial algorithm
    x := 0;
  algorithm
    x := if a then 1 elseif b then 2 else 3;
    (x, , y[1]) := f(x);
    f(x);
    while x < 1 loop
      if x > 2 then
        break;
      end if;
    end while;
    for i in {1, 2} loop
      return;
    end for;
    when x > 1 then
      y := 1;
    elsewhen x > 2 then
      y := 2;
    end when;
    'quoted'.call(1);
  annotation (E(f = 1));
  end Body;
  model Expressions
    Real a = 1 + 2. - 3.5e-3 * 4E+2 / 5 ^ 6;
    Real b = -x .+ y .- z .* u ./ v .^ w;
    Boolean c = not a < b and a <= b or a > b and a >= b or a == b and a <> b;
    Real d[:] = 1:2;
    Real e[:] = 1:0.5:2 + 1;
    Real f[:, :] = [1, 2; 3, 4];
    Real g[:] = {i + j for i in 1:3, j in {1, 2}};
    Real h = sum(i for i in 1:3);
    Real i = x[end, 1:end - 1, :].y[2];
    Real j = quad(function g(a = 1, b = .c), function h(), 1, k = function .m());
    Real k = (a)[1];
    Real l = (f(1))[2, end];
    String m = "a\n\"b\"\\";
    Real n = der(x) + pure(f(x)) + time;
    Real o = f();
    Real p = +1;
    Real q = {{1, 2}, {3, 4}} * [1];
    Real r = (if a then b else c) + 1;
    Real s = .a.b(1);
    Boolean t = not true or false;
  end Expressions;
end Everything;
model Second end Second;
