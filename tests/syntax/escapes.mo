model M "C:\data \n \"quoted\" \q"
end M;
// warning[W0101] 1:12 unknown escape sequence in a string
// warning[W0101] 1:32 unknown escape sequence in a string
