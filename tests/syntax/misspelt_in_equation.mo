model M
  Real x;
equation
  if x > 1 thne
    x = 1;
  esle
    x = 2;
  end if;
  whne x > 1 then
    x = 2;
  end when;
  for i in 1:3 lop
    x = 1;
  end for;
end M;
// error[E0106] 4:12 `thne` is not a keyword
// error[E0106] 6:3 `esle` is not a keyword
// error[E0106] 9:3 `whne` is not a keyword
// error[E0106] 12:16 `lop` is not a keyword
