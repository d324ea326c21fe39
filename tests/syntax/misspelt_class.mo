package P
  modle A
    Real x;
  end A;
  fucntion f
    input Real x;
  end f;
  partail model B
  end B;
end P;
// error[E0106] 2:3 `modle` is not a keyword
// error[E0106] 5:3 `fucntion` is not a keyword
// error[E0106] 8:3 `partail` is not a keyword
