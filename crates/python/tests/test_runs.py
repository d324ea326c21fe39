"""Runs: settings, inputs, progress, interruption, failures."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import pytest
import saltus
from conftest import ENDLESS


def test_settings_are_those_of_the_command_line(ball):
    result = ball.simulate(stop=3, start=1, interval=0.25, tolerance=1e-9, solver="dop853")
    assert result.time[0] == 1 and result.time[-1] == 3
    assert {1.25, 1.5, 2.75} <= set(result.time)
    for name, value in (("tolerance", 1.0), ("tolerance", float("nan")), ("interval", 0), ("stop", float("inf"))):
        with pytest.raises(ValueError, match=name):
            ball.simulate(**{name: value})
    with pytest.raises(ValueError, match="solver is one of auto"):
        ball.simulate(solver="euler")
    with pytest.raises(ValueError, match="before the start time"):
        ball.simulate(stop=-1)
    with pytest.raises(ValueError, match="zeno"):
        ball.simulate(zeno="go on")


def test_inputs(tank, tmp_path):
    exact = 10 * (1 - np.exp(-1))
    assert tank.simulate(10, inputs={"inflow": 1.0})["level"][-1] == pytest.approx(exact, rel=1e-5)
    result = tank.simulate(10, inputs={"inflow": ([0, 5, 5], [1, 1, 0])})
    left, right = np.flatnonzero(result.time == 5)
    assert result["inflow"][left] == 1 and result["inflow"][right] == 0
    held = tank.simulate(10, inputs={"inflow": ([0, 5], [1, 3], "hold")})
    assert held["inflow"][held.time < 5].max() == 1
    ramp = tank.simulate(10, inputs={"inflow": ([0, 10], [0, 1])})
    assert ramp.at(5)["inflow"] == pytest.approx(0.5)
    ramp.save(tmp_path / "in.csv")
    again = tank.simulate(10, inputs=tmp_path / "in.csv")
    assert again["level"][-1] == pytest.approx(ramp["level"][-1], rel=1e-4)
    assert tank.simulate(10, inputs=ramp)["level"][-1] == pytest.approx(ramp["level"][-1], rel=1e-4)


def test_inputs_from_frames(tank):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": [0.0, 10.0], "inflow": [0.0, 1.0], "other": [5.0, 5.0]})
    a = tank.simulate(10, inputs=frame)["level"][-1]
    assert tank.simulate(10, inputs=frame.set_index("time"))["level"][-1] == a
    assert tank.simulate(10, inputs={"inflow": frame.set_index("time")["inflow"]})["level"][-1] == a
    with pytest.raises(ValueError, match="no column of the data frame"):
        tank.simulate(10, inputs=frame[["time", "other"]])
    polars = pytest.importorskip("polars")
    assert tank.simulate(10, inputs=polars.DataFrame({"time": [0.0, 10.0], "inflow": [0.0, 1.0]}))["level"][-1] == a


@pytest.mark.parametrize(
    ("inputs", "error", "words"),
    [
        ({"inflow": ([1, 0], [0, 0])}, saltus.RequestError, "do not ascend"),
        ({"inflow": ([0, 1], [0])}, saltus.RequestError, "2 times and 1 values"),
        ({"inflow": ([], [])}, saltus.RequestError, "0 times"),
        ({"inflow": ([0], [float("nan")])}, saltus.RequestError, "finite"),
        ({"inflow": ([0, float("inf")], [0, 1])}, saltus.RequestError, "ascend"),
        ({"outflow": 1}, saltus.RequestError, "inputs are inflow"),
        ({"level": 1}, saltus.RequestError, "no input `level`"),
        ({"inflow": [1, 2, 3]}, TypeError, "without times"),
        ({"inflow": (["a"], ["b"])}, TypeError, "no numbers"),
        ({"inflow": ([[0, 1]], [[0, 1]])}, ValueError, "dimensions"),
        ({"inflow": (1, 2, 3, 4)}, ValueError, "give \\(times, values\\)"),
        ({3: 1}, TypeError, "names are texts"),
        (7, TypeError, "inputs are a int"),
        ("nowhere.csv", saltus.FileError, "nowhere.csv"),
    ],
)
def test_wrong_inputs_are_told(tank, inputs, error, words):
    with pytest.raises(error, match=words):
        tank.simulate(1, inputs=inputs)


def test_many_points_of_an_input_are_no_burden(tank):
    times = np.linspace(0, 10, 20001)
    begun = time.perf_counter()
    result = tank.simulate(10, inputs={"inflow": (times, 1 + 0 * times)})
    assert result["level"][-1] == pytest.approx(10 * (1 - np.exp(-1)), rel=1e-4)
    assert time.perf_counter() - begun < 60


def test_progress(endless):
    seen = []
    endless.simulate(20000, interval=100, progress=lambda t, fraction: seen.append((t, fraction)))
    assert seen and all(0 <= fraction <= 1 for _, fraction in seen)
    assert [t for t, _ in seen] == sorted(t for t, _ in seen)
    with pytest.raises(TypeError, match="progress"):
        endless.simulate(1, progress="yes")


def test_an_exception_in_a_callback_ends_the_run_with_results(endless):
    def impatient(t, fraction):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough") as caught:
        endless.simulate(1e7, interval=1, progress=impatient)
    assert len(caught.value.result) > 0 and caught.value.result.status == "interrupted"


def test_other_threads_go_on(endless):
    ticks, stop = [], threading.Event()

    def tick():
        while not stop.wait(0.01):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    endless.simulate(30000, interval=100)
    stop.set()
    thread.join()
    assert len(ticks) >= 3


def test_runs_go_on_in_threads(ball):
    alone = ball.simulate(2)["h"]
    results: list[np.ndarray] = []
    threads = [threading.Thread(target=lambda: results.append(ball.simulate(2)["h"])) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 8 and all(np.array_equal(alone, other) for other in results)


INTERRUPTED = """
import signal, sys, threading, time, os
import saltus
model = saltus.loads('''{model}''')
def interrupt():
    time.sleep(0.7)
    global sent
    sent = time.perf_counter()
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    {call}
except KeyboardInterrupt as error:
    took = time.perf_counter() - sent
    rows = {rows}
    print(took, rows)
    sys.exit(0 if rows > 0 else 3)
sys.exit(4)
"""

#: With a function its runs need a large stack: they go on on a thread of their own.
WITH_FUNCTION = ENDLESS.replace(
    "equation", "  function f input Real u; output Real y; algorithm y := -u; end f;\nequation"
).replace("der(y) = -x", "der(y) = f(x)")


@pytest.mark.skipif(os.name == "nt", reason="signals of other systems")
@pytest.mark.parametrize(
    ("model", "call", "rows"),
    [
        (ENDLESS, "model.simulate(1e7, interval=1)", "len(error.result)"),
        (WITH_FUNCTION, "model.simulate(1e7, interval=1)", "len(error.result)"),
        (ENDLESS, "stepper = model.stepper(interval=1); stepper.run_to(1e6)", "len(stepper.result)"),
        (
            ENDLESS,
            "model.sweep({'x.start': list(range(1, 1000))}, 'x', stop=300, interval=100)",
            "int(error.sweep.done.sum())",
        ),
    ],
)
def test_ctrl_c_ends_a_run_soon_and_keeps_results(model, call, rows):
    script = INTERRUPTED.format(model=model, call=call, rows=rows)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (done.stdout, done.stderr)
    took = float(done.stdout.split()[0])
    # 0.2 s on a machine that has nothing else to do.
    assert took < 1.0, took


def test_a_run_that_fails_keeps_its_results():
    model = saltus.loads("model M Real x(start = 1, fixed = true); equation der(x) = x^2; assert(x < 10, \"too large\"); end M;")
    with pytest.raises(saltus.SimulationError, match="too large") as caught:
        model.simulate(2)
    assert len(caught.value.result) > 10 and caught.value.result.status == "failed"
    assert caught.value.diagnostic.place is not None
    result = model.simulate(2, raise_on_failure=False)
    assert "too large" in result.failure.message


def test_the_end_that_a_model_asks_for():
    model = saltus.loads('model M Real x = time; equation when x > 0.5 then terminate("done"); end when; end M;')
    result = model.simulate(1)
    assert (result.status, result.message) == ("terminated", "done") and result.time[-1] == pytest.approx(0.5)


def test_policies():
    model = saltus.loads(
        "model M Real x(start = 1, fixed = true); Real u; equation u = if x > 0 then -1 else 1; der(x) = u; end M;"
    )
    with pytest.raises(saltus.SimulationError):
        model.simulate(2)
    assert abs(model.simulate(2, chattering="slide")["x"][-1]) < 1e-6


def test_fork_in_the_middle():
    script = textwrap.dedent(
        """
        import os, warnings
        warnings.simplefilter("ignore")
        import saltus
        model = saltus.loads("model M parameter Real k = 1; Real x(start = 1, fixed = true); equation der(x) = -k*x; end M;")
        before = model.sweep({"k": [1, 2, 3, 4]}, "x")["x"].tolist()
        child = os.fork()
        if child == 0:
            after = model.sweep({"k": [1, 2, 3, 4]}, "x")["x"].tolist()
            os._exit(0 if after == before and len(model.simulate(1)) > 0 else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        """
    )
    if not hasattr(os, "fork"):
        pytest.skip("there is no fork")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def test_signals_are_those_of_python_afterwards(ball):
    ball.simulate(1)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
