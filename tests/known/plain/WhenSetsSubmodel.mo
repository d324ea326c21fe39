// saltus check WhenSetsSubmodel.mo
// Expected: refused. MLS 4.5.? (discrete-time): "The variable assigned in a when-clause shall not be defined in a sub-component
// of model or block specialized class."
// Happens: accepted.
model Sub Real z; end Sub;
model WhenSetsSubmodel
  Sub s;
equation
  when time > 0.5 then
    s.z = 1;
  end when;
end WhenSetsSubmodel;
