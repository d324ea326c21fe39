// saltus simulate FrictionNetGiga.mo
// expected: runs; multiplying all masses, forces, friction limits and stiffnesses by 0.01 (or 1e-9) gives m0.s(4.9) = 1.53091, and motion does not depend on that factor.
// happens: E0602 at t = 0.005 ("none of the 827 that were tried"). Path parameter s = f0 + v loses v to rounding when f0 ~ 1e9 and v ~ 1e-6: better s normalised by f0 in the library.
model FrictionNetGiga
  import Saltus.Translational.*;
  Friction q1(f0=640174332.4059381);
  Mass m0(m=1579668281.0267782, v(start=1.0));
  ForceSource f0(f=3150923994.0596795*sin(3.535544728477256*time+0.33285163760434444));
  ForceSource f3(f=2402921660.177733*sin(3.240777949781243*time+0.7422888731136279));
  Spring q6(c=19895221395.82859);
  Fixed w;
  Friction q2(f0=735281495.4453621);
  Friction q3(f0=601037892.1249921);
  Mass m3(m=1323503740.8420048, v(start=0.0));
  Mass m2(m=2651022919.922504, v(start=0.0));
  Mass m1(m=1163731446.8627658, v(start=0.0));
  Spring q7(c=7694732437.09054);
  ForceSource f1(f=1555624772.057901*sin(2.3488097556394205*time+2.544449662002889));
  Friction q4(f0=566542559.0981693);
  Friction q0(f0=948455834.9648404);
  ForceSource f2(f=4356710305.273534*sin(3.6435666230206643*time+5.817064942042));
  Friction q5(f0=1321157533.4850404);
equation
  connect(w.flange,q4.flange_a);
  connect(w.flange,q0.flange_a);
  connect(m1.flange_b,q6.flange_a);
  connect(q6.flange_b,m2.flange_a);
  connect(f3.flange,m3.flange_b);
  connect(m2.flange_b,q5.flange_a);
  connect(w.flange,q3.flange_a);
  connect(f1.flange,m1.flange_b);
  connect(q4.flange_b,m3.flange_b);
  connect(q7.flange_b,m3.flange_a);
  connect(m0.flange_b,q2.flange_a);
  connect(w.flange,q1.flange_a);
  connect(q1.flange_b,m1.flange_a);
  connect(q5.flange_b,m3.flange_b);
  connect(f2.flange,m2.flange_a);
  connect(q2.flange_b,m1.flange_b);
  connect(f0.flange,m0.flange_a);
  connect(q3.flange_b,m2.flange_b);
  connect(q0.flange_b,m0.flange_b);
  connect(m2.flange_a,q7.flange_a);
  annotation(experiment(StopTime=5, Tolerance=1e-06));
end FrictionNetGiga;
