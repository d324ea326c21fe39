"""Sweeps on this machine: designs, outputs, failures, stores."""

import json
import math
import os
import signal
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import saltus
from conftest import EXAMPLES

DECAY = """
model Decay
  parameter Real k = 1, a = 0;
  parameter Integer n = 1;
  Real x(start = 1, fixed = true);
equation
  der(x) = -k*n*x + a;
  assert(k < 50, "k is too large");
end Decay;
"""


@pytest.fixture(scope="module")
def decay():
    return saltus.loads(DECAY)


def test_a_grid(decay):
    sweep = decay.sweep({"k": [1, 2, 3], "a": np.array([0.0, 0.5])}, ["x", "mean(x)", "end()"])
    assert len(sweep) == 6
    assert sweep["k"].tolist() == [1, 1, 2, 2, 3, 3] and sweep["a"].tolist() == [0, 0.5] * 3
    assert sweep["x"][0] == pytest.approx(math.exp(-1), rel=1e-5)
    assert not sweep["x"].flags.writeable and sweep.failures == []
    for run in range(6):
        alone = decay.simulate(set={"k": sweep["k"][run], "a": sweep["a"][run]})
        assert alone["x"][-1] == sweep["x"][run]
    assert "6 runs" in repr(sweep)


def test_designs():
    design = saltus.design
    assert len(design.zip({"a": [1, 2], "b": [3, 4]})) == 2
    assert design.table([{"a": 1, "b": True}, {"a": 2, "b": False}]).points() == [["1", "true"], ["2", "false"]]
    latin = design.latin_hypercube(16, {"a": (0, 1), "b": [1, 2]}, seed=3).to_dict()
    assert sorted(int(16 * value) for value in latin["a"]) == list(range(16))
    assert sorted(latin["b"]) == [1] * 8 + [2] * 8
    sobol = design.sobol(8, {"a": (0, 8)}).to_dict()["a"]
    assert sorted(sobol) == list(range(8))
    drawn = design.monte_carlo(1000, {"a": (1, 2), "b": lambda rng, n: rng.normal(5, 0.1, n), "c": ["x", "y"]}, seed=7)
    values = drawn.to_dict()
    assert 1 <= values["a"].min() and values["a"].max() <= 2 and values["b"].mean() == pytest.approx(5, abs=0.02)
    assert set(values["c"]) == {"x", "y"}
    again = design.monte_carlo(1000, {"a": (1, 2), "b": lambda rng, n: rng.normal(5, 0.1, n), "c": ["x", "y"]}, seed=7)
    assert again.points() == drawn.points()


def test_distributions_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    values = saltus.design.monte_carlo(500, {"a": stats.norm(3, 0.5)}).to_dict()["a"]
    assert values.mean() == pytest.approx(3, abs=0.1)


def test_frames_as_designs(decay):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"k": [1.0, 2.0], "a": [0.0, 0.5]})
    sweep = decay.sweep(frame, "x")
    assert sweep["a"].tolist() == [0.0, 0.5]
    table = sweep.to_pandas()
    assert list(table.columns) == ["k", "a", "x", "error", "message"] and table.index.name == "run"


def test_grids_as_arrays(decay):
    pytest.importorskip("xarray")
    data = decay.sweep({"k": [1, 2, 3], "a": [0, 1]}, "x").to_xarray()
    assert data["x"].dims == ("k", "a") and data["x"].shape == (3, 2)
    assert float(data["x"].sel(k=2, a=0)) == pytest.approx(math.exp(-2), rel=1e-5)
    listed = decay.sweep(saltus.design.sobol(4, {"k": (1, 2)}), "x").to_xarray()
    assert listed["x"].dims == ("run",)


def test_outputs_can_have_other_names(decay):
    sweep = decay.sweep({"k": [1, 2]}, {"end": "final(x)", "start": "initial(x)"})
    assert sweep.outputs == ["end", "start"] and sweep["start"].tolist() == [1, 1]
    with pytest.raises(KeyError, match="end, start"):
        sweep["x"]


def test_failures_are_recorded(decay):
    sweep = decay.sweep({"k": [1, 60, 2]}, "x")
    assert np.isnan(sweep["x"]).tolist() == [False, True, False]
    (failure,) = sweep.failures
    assert failure.run == 1 and failure.values == {"k": 60} and "k is too large" in failure.message
    assert failure.code.startswith("E") and sweep.done.all()
    with pytest.raises(saltus.SimulationError, match="run 1"):
        decay.sweep({"k": [1, 60, 2]}, "x", on_failure="raise")


def test_values_that_shape_the_equations(decay):
    sweep = decay.sweep({"n": [1, 2], "x.start": [1, 2], "k": [1, 2]}, "x")
    expected = [x0 * math.exp(-k * n) for n in (1, 2) for x0 in (1, 2) for k in (1, 2)]
    assert sweep["x"] == pytest.approx(expected, rel=1e-4)


def test_fixed_values_and_times(decay):
    sweep = decay.sweep({"k": [1, 2]}, ["x", "a"], set={"a": 3}, stop=2, tolerance=1e-9)
    exact = [3 / k + (1 - 3 / k) * math.exp(-2 * k) for k in (1, 2)]
    assert sweep["x"] == pytest.approx(exact, rel=1e-7) and sweep["a"].tolist() == [3, 3]
    # What is varied counts.
    other = decay.with_values({"k": 7}).sweep({"k": [1, 2]}, "x", set={"a": 3}, stop=2, tolerance=1e-9)
    assert np.array_equal(other["x"], sweep["x"])


def test_threads_do_not_matter(decay):
    design = saltus.design.sobol(64, {"k": (0.1, 3), "a": (0, 1)})
    one = decay.sweep(design, ["x", "max(x)"], threads=1)
    two = decay.sweep(design, ["x", "max(x)"], threads=2)
    assert np.array_equal(one["x"], two["x"]) and np.array_equal(one["max(x)"], two["max(x)"])


@pytest.fixture(scope="module")
def processes():
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        yield pool


@pytest.mark.parametrize("design", [{"k": [1, 60, 2, 3], "a": [0, 1]}, {"x.start": [1, 2], "n": [1, 2], "k": [0.5, 1]}, {"x.start": [1, 2, 3]}])
def test_executors_give_the_same(decay, processes, design, tmp_path):
    here = decay.sweep(design, ["x", "mean(x)"], store=tmp_path / "here.csv", set={"a": 0.25} if "a" not in design else None)
    for engine in (processes, ThreadPoolExecutor(2)):
        there = decay.sweep(
            design, ["x", "mean(x)"], engine=engine, chunk=2, store=tmp_path / "there.csv",
            set={"a": 0.25} if "a" not in design else None,
        )  # fmt: skip
        assert np.array_equal(here["x"], there["x"], equal_nan=True)
        assert [failure.message for failure in here.failures] == [failure.message for failure in there.failures]
        assert (tmp_path / "here.csv").read_bytes() == (tmp_path / "there.csv").read_bytes()


def test_joblib(decay):
    joblib = pytest.importorskip("joblib")
    design = saltus.design.sobol(40, {"k": (0.1, 3)})
    here = decay.sweep(design, "x")
    there = decay.sweep(design, "x", engine=joblib.Parallel(n_jobs=2))
    assert np.array_equal(here["x"], there["x"])


def test_a_pool_whose_worker_dies_is_told(decay):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        worker = pool.submit(os.getpid).result()
        os.kill(worker, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        with pytest.raises((RuntimeError, OSError)):
            decay.sweep({"k": list(np.linspace(1, 2, 50))}, "x", engine=pool)
    with pytest.raises(RuntimeError):
        decay.sweep({"k": [1, 2]}, "x", engine=pool)


def test_stores_are_the_tables_of_the_command_line(tmp_path):
    path = EXAMPLES / "mechanics" / "SlippingClutch.mo"
    model = saltus.load(path)
    model.sweep({"torque": [6, 12, 18, 24], "J2": [1, 3]}, ["first(locked)", "max(w2)"], store=tmp_path / "a.csv")
    from saltus._cli import main

    arguments = ["sweep", str(path), "--vary", "torque=6:24:6", "--vary", "J2=1,3"]
    script = f"from saltus._cli import main; raise SystemExit(main({arguments + ['--outputs', 'first(locked),max(w2)', '-o', str(tmp_path / 'b.csv')]!r}))"
    subprocess.run([sys.executable, "-c", script], check=True, capture_output=True)
    assert main and (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_store_is_gone_on_with(decay, tmp_path):
    store = tmp_path / "sweep.csv"
    design = {"k": [1, 60, 2, 3], "a": [0, 1]}
    whole = decay.sweep(design, "x", store=store)
    text = store.read_bytes()
    lines = text.splitlines(keepends=True)
    # Any number of rows, and a row that was not finished.
    for cut in (len(lines[0]), sum(map(len, lines[:3])), sum(map(len, lines[:5])) + 7, len(text)):
        store.write_bytes(text[:cut])
        again = decay.sweep(design, "x", store=store, resume=True)
        assert store.read_bytes() == text and np.array_equal(again["x"], whole["x"], equal_nan=True)
        assert len(again.failures) == 2
    for change in (
        dict(design={"k": [1, 2], "a": [0, 1]}),
        dict(outputs="max(x)"),
        dict(stop=2.0),
        dict(set={"n": 2}),
    ):
        settings = dict(design=design, outputs="x", store=store, resume=True) | change
        with pytest.raises(saltus.RequestError):
            decay.sweep(settings.pop("design"), settings.pop("outputs"), **settings)
    assert store.read_bytes() == text
    (tmp_path / "sweep.csv.json").unlink()
    with pytest.raises(saltus.RequestError, match="says how the table was made"):
        decay.sweep(design, "x", store=store, resume=True)
    # Without `resume` it begins anew.
    decay.sweep({"k": [1]}, "x", store=store)
    assert len(store.read_bytes().splitlines()) == 2


DRIVER = """
import sys
import time
import saltus
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context


def engine(name):
    if name == "pool":
        return ProcessPoolExecutor(2, mp_context=get_context("spawn"))
    if name == "dask":
        from distributed import Client, LocalCluster

        return Client(LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None))
    if name == "ray":
        import ray

        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
        return ray
    return None


def wait_to_be_killed(done, count):
    if sys.argv[4] == "first":
        time.sleep(600)


if __name__ == "__main__":
    model = saltus.load(sys.argv[1])
    model.sweep(saltus.design.sobol(RUNS, {"torque": (6, 24), "J2": (1, 6)}), ["first(locked)", "heat"],
                store=sys.argv[2], resume=True, engine=engine(sys.argv[3]), chunk=10, progress=wait_to_be_killed)
"""
#: More than are made before the first rows are handed over, so that the first driver stops on the way however fast the machine is.
RUNS = 2000


@pytest.mark.skipif(os.name == "nt", reason="signals of other systems")
@pytest.mark.parametrize("engine", ["threads", "pool", "dask", "ray"])
def test_a_driver_that_is_killed_goes_on(tmp_path, engine):
    if engine in ("dask", "ray"):
        pytest.importorskip({"dask": "distributed", "ray": "ray"}[engine])
    script, store = tmp_path / "driver.py", tmp_path / "sweep.csv"
    script.write_text(textwrap.dedent(DRIVER).replace("RUNS", str(RUNS)))
    command = [sys.executable, str(script), str(EXAMPLES / "mechanics" / "SlippingClutch.mo"), str(store), engine]
    driver = subprocess.Popen([*command, "first"], start_new_session=True)
    end = time.monotonic() + 120
    while time.monotonic() < end and (not store.exists() or store.read_bytes().count(b"\n") < 2):
        time.sleep(0.005)
    os.killpg(driver.pid, signal.SIGKILL)
    driver.wait()
    kept = store.read_bytes().count(b"\n") - 1
    assert 0 < kept < RUNS
    subprocess.run([*command, "second"], check=True, timeout=240)
    model = saltus.load(EXAMPLES / "mechanics" / "SlippingClutch.mo")
    design = saltus.design.sobol(RUNS, {"torque": (6, 24), "J2": (1, 6)})
    model.sweep(design, ["first(locked)", "heat"], store=tmp_path / "whole.csv")
    assert store.read_bytes() == (tmp_path / "whole.csv").read_bytes()
    about = json.loads((tmp_path / "sweep.csv.json").read_text())
    assert about == json.loads((tmp_path / "whole.csv.json").read_text())


def test_progress(decay):
    seen = []
    decay.sweep(saltus.design.sobol(100, {"k": (1, 2)}), "x", progress=lambda done, count: seen.append((done, count)))
    assert seen[-1] == (100, 100)


@pytest.mark.parametrize(
    ("design", "outputs", "settings", "error", "words"),
    [
        ({"nothing": [1]}, "x", {}, saltus.RequestError, "no parameter `nothing`"),
        ({"k": [1]}, "nothing", {}, saltus.UnknownNameError, "nothing"),
        ({"k": [1]}, "median(x)", {}, saltus.RequestError, "no output of a run"),
        ({"k": [1]}, [], {}, ValueError, "name outputs"),
        ({}, "x", {}, saltus.RequestError, "no parameter is varied"),
        ({"k": []}, "x", {}, ValueError, "no values"),
        ({"k": ["one"]}, "x", {}, saltus.RequestError, "one"),
        ({"k": [float("nan")]}, "x", {}, ValueError, "finite"),
        ({"k": [object()]}, "x", {}, TypeError, "object"),
        (7, "x", {}, TypeError, "the design is a int"),
        ({"k": [1]}, "x", {"engine": "slurm"}, TypeError, "no engine"),
        ({"k": [1]}, "x", {"threads": 0}, ValueError, "threads"),
        ({"k": [1]}, "x", {"chunk": -1}, ValueError, "chunk"),
        ({"k": [1]}, "x", {"resume": True}, ValueError, "name it"),
        ({"k": [1]}, "x", {"store": "/nowhere/at/all.csv"}, OSError, "nowhere"),
        ({"k": [1]}, "x", {"store": "sweep.zarr"}, saltus.RequestError, "csv"),
        ({"k": [1]}, "x", {"on_failure": "ignore"}, ValueError, "on_failure"),
        ({"k": [1]}, "x", {"tolerance": -1}, ValueError, "tolerance"),
        ({"k": [1]}, "x", {"progress": 3}, TypeError, "progress"),
    ],
)
def test_wrong_requests_are_told(decay, design, outputs, settings, error, words):
    with pytest.raises(error, match=words):
        decay.sweep(design, outputs, **settings)


def test_wrong_designs_are_told():
    design = saltus.design
    for call in (
        lambda: design.zip({"a": [1, 2], "b": [1]}),
        lambda: design.sobol(0, {"a": (0, 1)}),
        lambda: design.sobol(4, {"a": (1, 0)}),
        lambda: design.latin_hypercube(-3, {"a": (0, 1)}),
        lambda: design.latin_hypercube(4, {"a": (0, float("inf"))}),
        lambda: design.grid({"a": range(100000), "b": range(100000)}),
        lambda: design.table([]),
        lambda: design.table([{"a": 1}, {"b": 1}]),
        lambda: design.monte_carlo(3, {"a": lambda rng, n: [1]}),
    ):
        with pytest.raises(ValueError):
            call()
