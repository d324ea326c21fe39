model M parameter Integer n = 3; Real x[n](each start = 1, each fixed = true); equation der(x) = -x .* {i for i in 1:n}; end M;
