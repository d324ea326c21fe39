// model Instants.LeftLimitOnce
// stop 2
// final n 1
// final m 1
// final z 1
// model Instants.LeftLimitAfterJump
// stop 2
// final n 1
// final m 1
// final z 9
// model Instants.LeftLimitResets
// stop 1.5
// final n 1
// final m 1
// model Instants.OntoThresholdRising
// stop 2
// final n 1
// final m 1
// model Instants.OntoThresholdFalling
// stop 2
// final n 1
// final m 0
// model Instants.OntoThresholdStill
// stop 2
// final n 1
// final m 0
// model Instants.OntoThresholdFromAbove
// stop 2
// final n 1
// final m 0
// model Instants.OntoThresholdTwice
// stop 3
// final n 2
// model Instants.NotOntoThreshold
// stop 2
// final n 0
// model Instants.OneAfterTheOther
// stop 3
// final k 2
// final n 2
// model Instants.FactorJumpsAlone
// stop 2
// final v 2.607589254895223
// model Instants.ThreeTanks
// stop 50
// fails E0604 accumulate
// at 15
// model Instants.SetsWhatFollows
// stop 2
// final y 4.414553294057308
// model Instants.SetsWhatIsBound
// stop 2
// final x 2.207276647028654
// model Instants.SetsSquare
// stop 2
// final x 2.207276647028654
// final y 4.872070196518058
// model Instants.SetsThroughTwo
// stop 2
// final x 2.207276647028654
// model Instants.SetsSumOfTwo
// stop 2
// fails E0602 no mode is consistent
// at 1

package Instants "What happens once at an event"
  model LeftLimitOnce "The left limit is what it was throughout a cascade of new values"
    Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
    Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = 0;
    der(z) = 0;
    when x > 1 then
      reinit(y, 1);
    end when;
    when y > 0.5 then
      reinit(z, 1);
    end when;
    when pre(x) > 1 then
      n = pre(n) + 1;
    end when;
    when x > 1 then
      m = pre(m) + 1;
    end when;
  end LeftLimitOnce;

  model LeftLimitAfterJump
    Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
    Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = 0;
    der(z) = 0;
    when time >= 1 then
      reinit(x, 5);
    end when;
    when x > 4 then
      reinit(y, 7);
    end when;
    when y > 6 then
      reinit(z, 9);
    end when;
    when pre(x) > 4.5 then
      n = pre(n) + 1;
    end when;
    when x > 4.5 then
      m = pre(m) + 1;
    end when;
  end LeftLimitAfterJump;

  model LeftLimitResets
    Real x(start = 0, fixed = true), y(start = 0, fixed = true), z(start = 0, fixed = true);
    Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  equation
    der(x) = 1;
    der(y) = 0;
    der(z) = 0;
    when pre(x) > 1 then
      reinit(x, 0);
      reinit(y, pre(y) + 1);
    end when;
    when y > 0.5 then
      reinit(z, 1);
    end when;
    when z > 0.5 then
      n = pre(n) + 1;
    end when;
    when pre(x) > 1 then
      m = pre(m) + 1;
    end when;
  end LeftLimitResets;

  partial model OntoThreshold
    parameter Real th = 3, x0 = 0, slope = 1, scale = 1;
    Real x(start = x0*scale, fixed = true);
    Integer n(start = 0, fixed = true), m(start = 0, fixed = true);
  equation
    der(x) = slope*scale;
    when time >= 1 then
      reinit(x, th*scale);
    end when;
  end OntoThreshold;

  model OntoThresholdRising
    extends OntoThreshold;
  equation
    when x >= th*scale then
      n = pre(n) + 1;
    end when;
    when x > th*scale then
      m = pre(m) + 1;
    end when;
  end OntoThresholdRising;

  model OntoThresholdFalling "It holds for the instant only"
    extends OntoThresholdRising(slope = -1, scale = 1e6);
  end OntoThresholdFalling;

  model OntoThresholdStill
    extends OntoThresholdRising(slope = 0, scale = 1e-6);
  end OntoThresholdStill;

  model OntoThresholdFromAbove
    extends OntoThreshold(x0 = 5, slope = 0.1);
  equation
    when x <= th*scale then
      n = pre(n) + 1;
    end when;
    when x < th*scale then
      m = pre(m) + 1;
    end when;
  end OntoThresholdFromAbove;

  model OntoThresholdTwice
    Real x(start = 0, fixed = true);
    Integer n(start = 0, fixed = true);
  equation
    der(x) = -1;
    when sample(1, 1.5) then
      reinit(x, 3);
    end when;
    when x >= 3 then
      n = pre(n) + 1;
    end when;
  end OntoThresholdTwice;

  model NotOntoThreshold
    extends OntoThreshold(slope = -1);
  equation
    when x >= th + 1e-9 then
      n = pre(n) + 1;
    end when;
    when false then
      m = 0;
    end when;
  end NotOntoThreshold;

  model OneAfterTheOther "Of two branches whose conditions are met within the tolerance both act, each in its turn"
    Real x(start = 1, fixed = true), y(start = 1 + 1e-8, fixed = true);
    Integer k(start = 0, fixed = true), n(start = 0, fixed = true);
  equation
    der(x) = -1;
    der(y) = -1;
    when x <= 0 then
      k = 1;
      n = pre(n) + 1;
    elsewhen y <= 0 then
      k = 2;
      n = pre(n) + 1;
    end when;
  end OneAfterTheOther;

  model FactorJumpsAlone "Without an impulse v is continuous"
    discrete Real m(start = 2, fixed = true);
    Real v(start = 6, fixed = true);
  equation
    m*der(v) = -v;
    when time >= 1 then
      m = 3;
    end when;
  end FactorJumpsAlone;

  model ThreeTanks
    parameter Real w = 1.8;
    Real x1(start = 1, fixed = true), x2(start = 1.5, fixed = true), x3(start = 2, fixed = true);
    Integer k(start = 1, fixed = true);
  equation
    der(x1) = (if k == 1 then w else 0) - 0.6;
    der(x2) = (if k == 2 then w else 0) - 0.7;
    der(x3) = (if k == 3 then w else 0) - 0.8;
    when x1 <= 0 then
      k = 1;
    elsewhen x2 <= 0 then
      k = 2;
    elsewhen x3 <= 0 then
      k = 3;
    end when;
  end ThreeTanks;

  model SetsWhatFollows "reinit makes y a state in the place of x (8.3.6)"
    Real x(start = 1, fixed = true), y;
  equation
    y = 2*x;
    der(x) = -x;
    when time >= 1 then
      reinit(y, 12);
    end when;
  end SetsWhatFollows;

  model SetsWhatIsBound "x follows from y, whose derivative is given"
    Real x(start = 1, fixed = true), y;
  equation
    y = 2*x;
    der(y) = -y;
    when time >= 1 then
      reinit(x, 6);
    end when;
  end SetsWhatIsBound;

  model SetsSquare "The root near the value before"
    Real x(start = 1, fixed = true), y;
  equation
    y = x^2;
    der(x) = -x;
    when time >= 1 then
      reinit(y, 36);
    end when;
  end SetsSquare;

  model SetsThroughTwo
    Real x(start = 1, fixed = true), y, z;
  equation
    y = 2*x;
    z = y + time;
    der(x) = -x;
    when time >= 1 then
      reinit(z, 13);
    end when;
  end SetsThroughTwo;

  model SetsSumOfTwo "Which of two states should follow is not said"
    Real x(start = 1, fixed = true), y(start = 1, fixed = true), z;
  equation
    z = x + y;
    der(x) = -x;
    der(y) = -y;
    when time >= 1 then
      reinit(z, 13);
    end when;
  end SetsSumOfTwo;
end Instants;
