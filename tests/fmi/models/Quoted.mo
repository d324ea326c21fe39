// unit: stop 2
model Quoted "a < b & \"c\" > d — größer"
  Real 'a b'(start = 1, fixed = true) "with <blank> & ampersand";
  Real 'x.y[1]'(start = 2, unit = "kg.m2");
  parameter Real 'größe µ' = 2 "ünits";
  model Inner Real 'in ner'(start = 0, fixed = true); parameter Real k = 1; equation der('in ner') = k; end Inner;
  Inner 'the part'(k = 3), n[2](k = {1, 2});
equation
  der('a b') = -'größe µ'*'a b';
  'x.y[1]' = if 'a b' > 0.5 then 1 else 'a b';
end Quoted;
