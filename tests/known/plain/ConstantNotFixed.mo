// saltus check ConstantNotFixed.mo
// Expected: refused. MLS 8.6: constants: "fixed = false is not allowed".
// Happens: accepted. Small rules of the same kind that are not checked:
//   String(3.5, 6)                          3.7.1.1: options cannot be passed as positional arguments
//   String(3.5, format = ".2f", minimumLength = 3)   3.7.1.1: format cannot be combined
//   Real x(stateSelect = StateSelect.always) = sin(time)   4.8.?: error if it cannot be selected as state
//   A a(redeclare B b if false)             4.4.5: a redeclaration shall not include a condition attribute
//   for i loop x := zeros(3); x[i] := 1; end for     11.2.2.1: no assignment to the entire array
//   package P Real x = 1; end P             4.6: packages hold classes and constants only (refused only when used)
//   class EO extends ExternalObject; Real x; ... / without destructor     12.9.7
model ConstantNotFixed
  constant Real c(fixed = false) = 1;
  Real x = c;
end ConstantNotFixed;
