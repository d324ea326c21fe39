// Promise: no memory exhaustion; the judges allow 1 GiB. Expected: refused early (10^9 elements are known before the first is written).
// Now: refused (E0307) after 5 s of processor time and 1.64 GiB. Ten nested `for i in 1:50 loop` in an algorithm section with three statements as large as this: 1.16 GiB after 4.3 s of processor time and not at its end yet.
// Command: /usr/bin/time -f "%U s %M KiB" saltus check LoopMemory.mo
model LoopMemory
  Real x = sum({sin(i*time)*cos(j*time) + exp(-k*time)*(time + i)^2/(1 + j*time^2) + i*time - j*time + k*time
    for i in 1:1000, j in 1:1000, k in 1:1000});
end LoopMemory;
