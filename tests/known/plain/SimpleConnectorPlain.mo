// saltus check SimpleConnectorPlain.mo
// Expected: refused. MLS 9.3.1: "A component of a simple connector class must be declared as input, output, or protected."
// Happens: accepted.
connector RI = Real;
model M RI u; equation u = 1; end M;
model SimpleConnectorPlain
  M m;
end SimpleConnectorPlain;
