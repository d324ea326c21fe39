// A mass on a spring with dry friction comes to rest away from the middle.
//
// What to look at: the amplitude falls by 2*f0/c per half-period, in a straight line; the mass sticks where the spring is
// too weak to move it.
//
// run: tolerance = 1e-10
// expect: event at 3.141592653589793 within 1e-8
// expect: slider.s at 3.141592653589793 = -0.8 within 1e-6
// expect: slider.s at 6.283185307179586 = 0.6 within 1e-6
// expect: slider.s at 9.42477796076938 = -0.4 within 1e-6
// expect: slider.s at 12.566370614359172 = 0.2 within 1e-6
// expect: slider.s at 20 = 0 within 1e-5
// expect: slider.v at 20 = 0 within 1e-12

model SpringSlider "Oscillator with dry friction"
  import Saltus.Translational.*;
  Fixed wall;
  Spring spring(c = 1);
  Friction friction(f0 = 0.1);
  Mass slider(m = 1, s(start = 1));
equation
  connect(wall.flange, spring.flange_a);
  connect(spring.flange_b, slider.flange_a);
  connect(wall.flange, friction.flange_a);
  connect(friction.flange_b, slider.flange_b);
  annotation(experiment(StopTime = 20, Interval = 0.02));
end SpringSlider;
