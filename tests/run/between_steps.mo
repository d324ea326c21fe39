// What lies between two steps, or right beside the start or another event.
//
// model BetweenSteps.DelayReachesZero
// stop 1
// final y 0.3993037064627552
// model BetweenSteps.DelayOfPulse
// stop 5
// final y 0.6065306597126334
// model BetweenSteps.SilentStaircase
// stop 2
// fails E0603 on both sides of `mod(v, 0.5)`
// model BetweenSteps.AfterStart
// stop 1
// final n 1
// final k 1
// model BetweenSteps.PeakOfRate
// stop 5
// final y 1.772453850905516
// model BetweenSteps.BranchOfFunction
// stop 5
// final y 1
// model BetweenSteps.Violated
// stop 5
// fails E0609 too much
package BetweenSteps
  model DelayReachesZero "sin(10*(t - |sin(5*t)|)) where t > |sin(5*t)|, sin(0) before"
    Real y = delay(sin(10*time), abs(sin(5*time)), 1);
  end DelayReachesZero;

  model DelayOfPulse "a peak that is narrower than the steps, at its flank: exp(-1/2)"
    Real y = delay(exp(-((time - 4)/1e-5)^2/2), 1 - 1e-5);
  end DelayOfPulse;

  model SilentStaircase "v reaches 0.5, where mod(v, 0.5) jumps and both sides drive back"
    Real x(start = 0.76, fixed = true), v(start = 0.95, fixed = true);
  equation
    der(x) = sin(1.39*noEvent(if v - time > 0.07 then v else tanh(2.95*time))) - 0.5*x;
    der(v) = (if abs(mod(time, 1.42)) > 0.16 then noEvent(if -0.81 - x > 0.67 then (if x > -0.4 then -0.44 else -0.26) else mod(v, 0.5))
      else tanh(1.23*(x - time))) - 0.7*v;
    annotation(experiment(Tolerance = 1e-8));
  end SilentStaircase;

  model AfterStart "false at the start, true right after it"
    Integer n = if time > 0 then 1 else 0;
    Integer k(start = 0, fixed = true);
  equation
    when time > 0 then
      k = pre(k) + 1;
    end when;
  end AfterStart;

  model PeakOfRate "the integral of a peak whose width is 2e-5 of the run: sqrt(pi)"
    Real y(start = 0, fixed = true);
  equation
    der(y) = exp(-((time - 3)/1e-4)^2)*1e4;
  end PeakOfRate;

  model BranchOfFunction "a branch that is taken for a short while"
    function window
      input Real u;
      output Real y;
    algorithm
      y := 0;
      if u > 3 then
        if u < 3.0001 then
          y := 1e4;
        end if;
      end if;
    end window;
    Real y(start = 0, fixed = true);
  equation
    der(y) = window(time);
  end BranchOfFunction;

  model Violated "above its limit for less than a step"
    Real u = exp(-((time - 3)/1e-5)^2);
    Real x(start = 0, fixed = true);
  equation
    der(x) = 1;
    assert(u < 0.5, "too much");
  end Violated;
end BetweenSteps;
