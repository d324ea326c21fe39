"""Linearisation, steady states, fits, sensitivities: against closed forms."""

import math

import numpy as np
import pytest
import saltus
from conftest import BALL

PENDULUM = """
model Pendulum
  input Real torque;
  parameter Real d = 0.1;
  Real phi(start = 0.5, fixed = true), w(start = 0, fixed = true), y = sin(phi);
equation
  der(phi) = w;
  der(w) = torque - 9.81*sin(phi) - d*w;
end Pendulum;
"""


def test_linearize():
    linear = saltus.loads(PENDULUM).linearize(outputs=["y", "w"], inputs={"torque": 0.3})
    assert linear.states == ["phi", "w"] and linear.inputs == ["torque"] and linear.outputs == ["y", "w"]
    assert np.allclose(linear.A, [[0, 1], [-9.81 * math.cos(0.5), -0.1]], atol=1e-10)
    assert np.allclose(linear.B, [[0], [1]], atol=1e-10)
    assert np.allclose(linear.C, [[math.cos(0.5), 0], [0, 1]], atol=1e-10) and np.allclose(linear.D, 0)
    assert linear.u[0] == 0.3 and linear.dx[1] == pytest.approx(0.3 - 9.81 * math.sin(0.5))
    later = saltus.loads(PENDULUM).linearize(at=1.0, outputs="y", tolerance=1e-9)
    assert later.time == 1.0 and later.A[1, 0] == pytest.approx(-9.81 * math.cos(later.x[0]), abs=1e-9)


def test_linearize_knows_the_mode(shafts):
    assert len(shafts.linearize().states) == 2
    assert len(shafts.linearize(at=1.5).states) == 1


def test_what_cannot_be_linearized_is_told():
    model = saltus.loads("model M input Real u; Real x = u, v; equation v = der(x); end M;")
    with pytest.raises(saltus.RequestError, match="derivative of `u`"):
        model.linearize(outputs="v")
    with pytest.raises(saltus.UnknownNameError):
        saltus.loads(PENDULUM).linearize(outputs="nothing")


def test_with_algebraic_loops():
    model = saltus.loads(
        "model M input Real u; Real x(start = 1, fixed = true), z(start = 1);"
        " equation z^3 + z = x + u; der(x) = -z; end M;"
    )
    linear = model.linearize(outputs="z")
    z = float(model.simulate(0.001, inputs={"u": 0.0})["z"][0])
    slope = 1 / (3 * z * z + 1)
    assert linear.A[0, 0] == pytest.approx(-slope, rel=1e-8) and linear.D[0, 0] == pytest.approx(slope, rel=1e-8)


def test_steady_state():
    state = saltus.loads(PENDULUM).steady_state(inputs={"torque": 2.0})
    assert math.sin(state["phi"]) == pytest.approx(2 / 9.81, rel=1e-6) and abs(state["w"]) < 1e-6
    assert "reached" in repr(state)
    with pytest.raises(saltus.SimulationError, match="no steady state") as caught:
        saltus.loads(PENDULUM).steady_state(set={"d": 0.0}, horizon=200)
    assert len(caught.value.result) > 0
    # Through mode changes: a block that slides to rest.
    tank = saltus.loads(
        "model T Real h(start = 0, fixed = true); equation der(h) = (if h < 1 then 1 else 0.5) - 0.2*h; end T;"
    )
    assert tank.steady_state()["h"] == pytest.approx(2.5, rel=1e-6)


def test_fit_recovers_parameters_from_noisy_data():
    pytest.importorskip("scipy")
    model = saltus.loads(PENDULUM.replace("9.81", "g").replace("parameter Real d = 0.1;", "parameter Real d = 0.1, g = 9;"))
    rng = np.random.default_rng(1)
    times = np.linspace(0, 5, 101)
    truth = model.simulate(5, set={"g": 9.81, "d": 0.3}, tolerance=1e-10)
    data = {"time": times, "angle": truth.resample(times, "phi")["phi"] + rng.normal(0, 1e-3, len(times))}
    fit = model.fit({"g": (9, 5, 15), "d": (0.1, 0, 2)}, data, compare={"phi": "angle"})
    assert fit.success and fit.failed == 0
    for name, value in (("g", 9.81), ("d", 0.3)):
        assert abs(fit[name] - value) < 4 * fit.errors[name] + 1e-4, (name, fit)
        assert fit.errors[name] < 0.01
    assert "±" in repr(fit) and fit.result["phi"][0] == 0.5


def test_fit_across_mode_changes():
    pytest.importorskip("scipy")
    model = saltus.loads(BALL)
    times = np.linspace(0, 1.2, 61)
    truth = model.simulate(1.2, set={"e": 0.7, "g": 9.5}, tolerance=1e-10, interval=0.001)
    data = {"time": times, "h": truth.resample(times, "h")["h"]}
    fit = model.fit({"e": (0.8, 0.3, 1), "g": (9.81, 5, 12)}, data)
    assert fit["e"] == pytest.approx(0.7, abs=1e-4) and fit["g"] == pytest.approx(9.5, abs=1e-3)


def test_fit_counts_runs_that_fail():
    pytest.importorskip("scipy")
    model = saltus.loads(
        'model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; assert(k < 4, "k"); end M;'
    )
    times = np.linspace(0, 1, 11)
    fit = model.fit({"k": (1, 0, 10)}, {"time": times, "x": np.exp(-2 * times)}, method="differential_evolution", seed=1, maxiter=20)
    assert fit["k"] == pytest.approx(2, abs=1e-3) and fit.failed > 0


def test_wrong_fits_are_told(ball):
    pytest.importorskip("scipy")
    data = {"time": [0.0, 0.1], "h": [1.0, 0.9]}
    for parameters, values, settings in (
        ({}, data, {}),
        ({"e": (0.5, 1, 2)}, data, {}),
        ({"e": (1, 2)}, data, {}),
        ({"e": 0.5}, {"h": [1.0]}, {}),
        ({"e": 0.5}, {"time": [0.0, 0.1], "other": [1, 2]}, {}),
        ({"e": 0.5}, {"time": [1.0, 0.1], "h": [1, 2]}, {}),
        ({"e": 0.5}, {"time": [0.0, 0.1], "h": [1.0]}, {}),
        ({"e": 0.5}, data, {"method": "guess"}),
        ({"e": 0.5}, data, {"weights": {"h": -1}}),
        ({"e": 0.5}, data, {"method": "differential_evolution"}),
    ):
        with pytest.raises(ValueError):
            ball.fit(parameters, values, **settings)


def test_sensitivities_across_a_bounce():
    """Height after one bounce: h = e v1 (t - t1) - g/2 (t - t1)^2 with v1 = sqrt(2 g h0), t1 = sqrt(2 h0/g)."""
    model = saltus.loads(BALL)
    t, e, g = 0.9, 0.8, 9.81
    found = model.sensitivities(["e", "g"], ["h", "v"], stop=1.0, at=[0.3, t])
    v1, t1 = math.sqrt(2 * g), math.sqrt(2 / g)
    s = t - t1
    dt1, dv1 = -0.5 * t1 / g, 0.5 * v1 / g
    assert found["h", "e"] == pytest.approx([0, v1 * s], abs=1e-6)
    assert found["v", "e"] == pytest.approx([0, v1], abs=1e-6)
    assert found["h", "g"] == pytest.approx([-0.045, e * dv1 * s - e * v1 * dt1 - s * s / 2 + g * s * dt1], abs=1e-6)
    assert found["v", "g"] == pytest.approx([-0.3, e * dv1 - s + g * dt1], abs=1e-6)
    assert found.event_derivatives["g"][1] == pytest.approx(dt1, abs=1e-7)
    assert found.problems == {}
    moved = model.sensitivities(["e", "g"], ["h", "v"], stop=1.0, at=[0.3, t], method="differences")
    assert max(np.max(error) for error in moved.errors.values()) < 1e-4
    for key, values in found.derivatives.items():
        assert moved[key] == pytest.approx(values, abs=1e-5)


def test_sensitivities_across_a_mode_change(shafts):
    """The common speed of a clutch: (J1 w1 + J2 w2)/(J1 + J2)."""
    found = shafts.sensitivities(["J1", "J2"], ["w1"], stop=2.0)
    assert found["w1", "J1"] == pytest.approx([-40 / 25], abs=1e-7)
    assert found["w1", "J2"] == pytest.approx([10 / 25], abs=1e-7)


def test_sensitivities_of_a_rectifier():
    """An ideal diode with a source sin(w t) and a resistor: the charge that passed until t is R^-1 times an integral that stops at pi/w."""
    model = saltus.loads(
        """
        model Rectifier
          parameter Real R = 2, w = 3;
          Real u = sin(w*time), i, ud, s, q(start = 0, fixed = true);
        equation
          der(q) = i;
          u = R*i + ud;
          if s > 0 then
            ud = 0; i = s;
          else
            i = 0; ud = s;
          end if;
        end Rectifier;
        """
    )
    found = model.sensitivities(["R", "w"], "q", stop=1.5, at=[0.5, 1.5])
    R, w = 2, 3

    def q_w(t):
        stop = min(t, math.pi / w)
        return (-(1 - math.cos(w * stop)) / w**2 + stop * math.sin(w * stop) / w) / R if t < math.pi / w else -2 / w**2 / R

    assert found["q", "R"] == pytest.approx([-(1 - math.cos(1.5)) / w / R**2, -2 / w / R**2], abs=1e-6)
    assert found["q", "w"] == pytest.approx([q_w(0.5), q_w(1.5)], abs=1e-6)


def test_no_derivative_is_said_where_there_is_none():
    """With p = 1 the event is at the end of the run: for smaller values it happens, for greater ones it does not."""
    model = saltus.loads(
        "model M parameter Real p = 1; Real u(start = 0, fixed = true);"
        " equation der(u) = 1; when u >= p then reinit(u, 0); end when; end M;"
    )
    found = model.sensitivities(["p"], "u", stop=1.0)
    assert np.isnan(found["u", "p"]).all() and "no derivative" in found.problems["p"]
    with pytest.raises(saltus.SimulationError, match="no derivative"):
        model.sensitivities(["p"], "u", stop=1.0, on_problem="raise")
    # At the time of the event itself what jumps has none either.
    found = model.sensitivities(["p"], "u", stop=0.9, at=[0.25, 0.5, 0.75], set={"p": 0.5})
    assert np.isnan(found["u", "p"]).tolist() == [False, True, False]
    assert found["u", "p"][2] == pytest.approx(-1, abs=1e-8)


def test_wrong_sensitivities_are_told(ball):
    for call in (
        lambda: ball.sensitivities(["nothing"], "h"),
        lambda: ball.sensitivities(["e"], "nothing"),
        lambda: ball.sensitivities(["e"], "h", at=[5], stop=1),
        lambda: ball.sensitivities(["e"], "h", steps={"e": 0}),
        lambda: ball.sensitivities(["e"], "h", on_problem="ignore"),
        lambda: ball.sensitivities(["e"], "h", method="guess"),
        lambda: ball.sensitivities(["e"], "h", method="variational", steps={"e": 0.1}),
        lambda: ball.sensitivities(["h.start"], "h"),
    ):
        with pytest.raises((ValueError, KeyError)):
            call()
    start = ball.sensitivities(["h.start"], "h", set={"h.start": 1.0}, stop=0.2)
    assert start["h", "h.start"] == pytest.approx([1.0], abs=1e-8)
