// A function that yields the angle of a rotation as cosine and sine, and its rate, in one record. The constraint on the sine is
// one on the angle, although the rate is an argument of the same call: it has to be differentiated twice for the torque.
//
// phi = asin(sin(t)/2), and t = 2*phi''.
//
// run: tolerance = 1e-9
// expect: phi at 1 = 0.4342559106238363 within 1e-7
// expect: R.w at 1 = 0.29779112511950223 within 1e-7
// expect: torque at 1 = -0.8453083999550678 within 1e-6

model RateOfRotation
  record Rotation
    Real c, s, w;
  end Rotation;
  function turned
    input Real phi, rate;
    output Rotation R;
  protected
    Real double;
  algorithm
    R.c := cos(phi);
    double := 2*rate;
    R.s := sin(phi);
    R.w := double/2;
  end turned;
  Rotation R;
  Real phi(start = 0.1), torque;
equation
  R = turned(phi, der(phi));
  R.s = 0.5*sin(time);
  2*der(R.w) = torque;
end RateOfRotation;
