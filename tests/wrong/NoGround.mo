// says: error[E0508]: `NoGround` is singular
// says: connect(load.n, source.n);
// says: give one of them a value (connect a ground, fix a support)
// fix: `equation` -> `  Saltus.Electrical.Ground ground; equation connect(ground.p, source.n);`
model NoGround "A circuit without a ground"
  Saltus.Electrical.ConstantVoltage source(V = 10);
  Saltus.Electrical.Resistor load(R = 10);
equation
  connect(source.p, load.p);
  connect(load.n, source.n);
end NoGround;
