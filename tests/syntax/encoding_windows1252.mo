model M “text”
end M;
// error[E0110] 1:9 this file is not UTF-8
// error[E0108] 1:9 these are not the quotation marks of a string
