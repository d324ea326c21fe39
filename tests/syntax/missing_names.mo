package P
  class "without a name"
    Real x;
  end C;
  model M
    Real if x > 1;
    Real (start = 1) "text";
    Real = 1;
    Real y, ;
  equation
    y = 1;
  end M;
end P;
// error[E0101] 2:9 expected the name of the class, found a string
// error[E0101] 6:10 expected the name of a component, found `if`
// error[E0101] 7:10 expected the name of a component, found `(`
// error[E0101] 8:5 expected an element, or `equation` before this, found `Real`
// error[E0101] 9:5 expected an equation, found a declaration
// error[E0101] 9:13 expected the name of a component, found `;`
