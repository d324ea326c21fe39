// saltus simulate StringFormatHex.mo --stop 1
// Expected: n = 1. MLS 3.7.1.1: "for integral values it is also allowed to use the d, i, o, x, X, u, and c format specifiers".
// Happens: E0301 `format` must be a conversion of numbers.
model StringFormatHex
  Integer n = if String(255, format = "x") == "ff" then 1 else 0;
end StringFormatHex;
