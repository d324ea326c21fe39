"""Runs in the hands of their callers."""

import threading

import numpy as np
import pytest
import saltus


def test_steps_agree_with_one_run(ball):
    run = ball.stepper(tolerance=1e-9)
    while run.time < 1.4:
        run.step(0.1)
    whole = ball.simulate(1.4, tolerance=1e-9)
    assert run["h"] == pytest.approx(whole["h"][-1], abs=1e-6)
    assert run.values(["h", "v"]) == pytest.approx([run["h"], run["v"]])


def test_events_end_a_step_when_asked_for(ball):
    run = ball.stepper()
    assert run.advance(2.0) == "event" and run.time == pytest.approx((2 / 9.81) ** 0.5)
    assert run["v"] > 0
    assert run.run_to(2.0) == "time" and run.time == 2.0
    assert len(run.result.events) > 2


def test_saved_runs_come_back_bit_by_bit(ball):
    run = ball.stepper()
    run.step(0.3)
    saved = run.save()
    run.step(1.0)
    first = (run.time, run["h"], run["v"])
    for _ in range(2):
        run.restore(saved)
        assert run.time == 0.3
        run.step(1.0)
        assert (run.time, run["h"], run["v"]) == first
    other = ball.stepper()
    other.restore(saved)
    assert other.time == 0.3


def test_inputs_jump(tank):
    run = tank.stepper()
    assert run.inputs == ["inflow"]
    run.set("inflow", 0.2)
    run.step(10)
    assert run["level"] == pytest.approx(2 * (1 - np.exp(-1)), rel=1e-5)
    run.set({"inflow": 0.0})
    run.step(10)
    assert run["level"] == pytest.approx(2 * (1 - np.exp(-1)) * np.exp(-1), rel=1e-5)
    assert run["full"] == 0.0


def test_a_controller_in_python(tank):
    run = tank.stepper()
    for _ in range(300):
        run.set("inflow", max(0.0, 2 * (0.5 - run["level"])))
        run.step(0.1)
    assert run["level"] == pytest.approx(0.5 * 2 / 2.1, rel=1e-3)


def test_a_million_seconds_are_no_limit_to_steps(endless):
    run = endless.stepper()
    run.run_to(25000)
    assert run.time == 25000


def test_the_end(ball):
    run = ball.stepper(stop=1.0)
    assert run.run_to(5.0) == "end" and run.time == 1.0
    with pytest.raises(saltus.RequestError, match="the model has no input"):
        run.set("u", 1)


def test_hostile_calls(ball, tank):
    run = ball.stepper()
    run.step(0.5)
    for call in (
        lambda: run.run_to(0.1),
        lambda: run.step(-1),
        lambda: run.step(float("nan")),
        lambda: run.run_to(float("nan")),
        lambda: run.restore(tank.stepper().save()),
        lambda: tank.stepper().set("inflow", float("nan")),
    ):
        with pytest.raises(ValueError):
            call()
    with pytest.raises(KeyError):
        run["nothing"]
    with pytest.raises(TypeError):
        run.set("inflow")
    with pytest.raises(TypeError):
        run.restore(3)
    assert run.time == 0.5


def test_one_stepper_in_two_threads_is_told(endless):
    run = endless.stepper()
    seen = []
    thread = threading.Thread(target=lambda: run.run_to(20000))
    thread.start()
    while thread.is_alive():
        try:
            _ = run.time
        except RuntimeError as error:
            seen.append(str(error))
    thread.join()
    assert any("one stepper per thread" in text for text in seen)
