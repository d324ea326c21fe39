import pathlib

import pytest
import saltus

#: The repository, whose examples the tests run.
ROOT = pathlib.Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"

BALL = """
model Ball
  parameter Real e = 0.8 "Coefficient of restitution";
  parameter Real g(unit = "m/s2") = 9.81;
  Real h(start = 1, fixed = true, unit = "m") "Height";
  Real v(start = 0, fixed = true, unit = "m/s") "Velocity";
  Real minus = -v;
equation
  der(h) = v;
  der(v) = -g;
  when h < 0 then
    reinit(v, -e*pre(v));
  end when;
end Ball;
"""

SHAFTS = """
model Shafts "Two inertias that are coupled rigidly from t = 1 on"
  parameter Real J1 = 1, J2 = 4;
  Real w1(start = 0, fixed = true), w2(start = 10, fixed = true), tau;
equation
  J1*der(w1) = tau;
  J2*der(w2) = -tau;
  if time < 1 then
    tau = 0;
  else
    w1 = w2;
  end if;
end Shafts;
"""

TANK = """
model Tank
  parameter Real k = 0.1;
  input Real inflow;
  Real level(start = 0, fixed = true);
  Boolean full = level > 1;
equation
  der(level) = inflow - k*level;
end Tank;
"""

#: Takes hours.
ENDLESS = """
model Endless
  Real x(start = 1, fixed = true), y(start = 0, fixed = true);
equation
  der(x) = y;
  der(y) = -x;
end Endless;
"""


@pytest.fixture(scope="session")
def ball() -> saltus.Model:
    return saltus.loads(BALL)


@pytest.fixture(scope="session")
def shafts() -> saltus.Model:
    return saltus.loads(SHAFTS)


@pytest.fixture(scope="session")
def tank() -> saltus.Model:
    return saltus.loads(TANK)


@pytest.fixture(scope="session")
def endless() -> saltus.Model:
    return saltus.loads(ENDLESS)


@pytest.fixture(scope="session")
def examples() -> pathlib.Path:
    return EXAMPLES
