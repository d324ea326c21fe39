"""Hostile arguments get exceptions that say what to do: no crash, no hang."""

import gc
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import saltus
from saltus import _native


@pytest.mark.parametrize(
    ("settings", "error", "words"),
    [
        (dict(stop="soon"), TypeError, "str"),
        (dict(stop=None, tolerance="tight"), TypeError, "str"),
        (dict(stop=[1]), TypeError, "list"),
        (dict(stop=1, set={"e": None}), TypeError, "NoneType"),
        (dict(stop=1, set={"e": float("nan")}), ValueError, "finite"),
        (dict(stop=1, set={"e": float("inf")}), ValueError, "finite"),
        (dict(stop=1, set={"e": {}}), TypeError, "dict"),
        (dict(stop=1, set={"e": 1j}), TypeError, "complex"),
        (dict(stop=1, set={"e": "fast"}), saltus.RequestError, "fast"),
        (dict(stop=1, set={"e": "1; end Ball; model X"}), saltus.RequestError, "cannot be the value"),
        (dict(stop=1, set={"E": 1}), saltus.RequestError, "did you mean `e`"),
        (dict(stop=1, set={"h": 1}), saltus.RequestError, "h.start"),
        (dict(stop=1, set={"": 1}), saltus.RequestError, "no parameter"),
        (dict(stop=1, set={"e": [1, 2]}), saltus.Error, "e"),
        (dict(stop=1, set=[("e", 1)]), (TypeError, AttributeError), None),
        (dict(stop=1, outputs=[3]), TypeError, "names are texts"),
        (dict(stop=1, outputs=[]), ValueError, "name outputs"),
        (dict(stop=1, outputs="\0"), saltus.UnknownNameError, None),
        (dict(stop=1, start_values={"h": "a lot"}), saltus.Error, "lot"),
        (dict(stop=1e300), saltus.Error, None),
        (dict(stop=1, interval=1e-300), saltus.Error, "output points"),
    ],
)
def test_wrong_arguments(ball, settings, error, words):
    with pytest.raises(error, match=words):
        ball.simulate(**settings)


def test_huge_texts_and_deep_models():
    with pytest.raises(saltus.Error):
        saltus.loads("(" * 100_000)
    with pytest.raises(saltus.Error):
        saltus.loads("model M Real x = " + "-" * 200_000 + "1; end M;")
    sums = " + ".join(["time"] * 900)
    assert saltus.loads(f"model M Real x = {sums}; end M;").simulate()["x"][-1] == pytest.approx(900)
    deep = "1"
    for _ in range(150):
        deep = f"sin({deep})"
    saltus.loads(f"model M Real x = time*{deep}; end M;").simulate()
    assert saltus.loads("model 'a b' Real 'x y' = 1; end 'a b';").simulate()["'x y'"][0] == 1
    for text in ("", "\0", "model", "\ud800".encode("utf-8", "replace").decode(), "package P end P;"):
        with pytest.raises(saltus.ModelError):
            saltus.loads(text)
    with pytest.raises((TypeError, UnicodeError)):
        saltus.loads("model M end M; // \ud800")
    with pytest.raises(TypeError):
        saltus.loads(b"model M end M;")


def test_files_that_are_none(tmp_path):
    for path in (tmp_path, tmp_path / "x" / "y.mo", "", "\0"):
        with pytest.raises((saltus.Error, ValueError, OSError)):
            saltus.load(path)
    binary = tmp_path / "b.mo"
    binary.write_bytes(os.urandom(4096))
    with pytest.raises(saltus.ModelError):
        saltus.load(binary)
    with pytest.raises(TypeError):
        saltus.load(None)


def test_a_file_that_is_deleted_after_loading(tmp_path):
    path = tmp_path / "M.mo"
    path.write_text("model M parameter Integer n = 1; Real x[n] = fill(time, n); end M;")
    model = saltus.load(path)
    path.unlink()
    assert model.simulate()["x[1]"][-1] == 1
    # It is in memory: compiled again without the file.
    assert model.simulate(set={"n": 2})["x[2]"][-1] == 1


def test_huge_arrays(tank):
    times = np.arange(1_000_000, dtype=float)
    result = tank.simulate(10, inputs={"inflow": (times, np.ones_like(times))})
    assert result["level"][-1] > 0
    odd = np.ones((1000, 2))[:, 0]
    assert not odd.flags.c_contiguous
    assert tank.simulate(1, inputs={"inflow": (np.arange(1000.0), odd)})["level"][-1] > 0
    assert tank.simulate(1, inputs={"inflow": (np.arange(3, dtype=np.int32), np.ones(3, dtype=np.float32))})["level"][-1] > 0


def test_native_objects_cannot_be_made_of_nothing():
    for thing in (_native.Model, _native.Trajectory, _native.Stepper, _native.Column, _native.Simulation):
        with pytest.raises(TypeError):
            thing()
    with pytest.raises((TypeError, ValueError)):
        _native.Trajectory.from_parts("[]", [], "{}", "{}", 0.0, b"12345678", b"", b"", [], [], {})
    with pytest.raises((TypeError, ValueError)):
        _native.Trajectory.from_parts("nonsense", [], "{}", "{}", 0.0, b"", b"", b"", [], [], {})
    with pytest.raises(TypeError):
        _native.Session.compile(None, None, [])


def test_pickles_that_are_damaged(ball):
    data = bytearray(pickle.dumps(ball))
    for at in range(200, len(data), max(1, len(data) // 40)):
        changed = bytearray(data)
        changed[at] ^= 0x55
        try:
            pickle.loads(bytes(changed))
        except BaseException as error:  # noqa: BLE001
            assert not isinstance(error, (SystemExit, KeyboardInterrupt)) and "PanicException" not in type(error).__name__


def test_errors_are_pickled(ball):
    for call in (
        lambda: ball.simulate(set={"nothing": 1}),
        lambda: ball.simulate(0.1)["nothing"],
        lambda: saltus.read("nowhere.csv"),
        lambda: saltus.loads("model M Real x = 1; equation assert(time < 0.5, \"late\"); end M;").simulate(),
    ):
        with pytest.raises(saltus.Error) as caught:
            call()
        again = pickle.loads(pickle.dumps(caught.value))
        assert type(again) is type(caught.value) and str(again) == str(caught.value)
        assert again.code == caught.value.code


def test_nothing_hangs_at_the_end_of_the_interpreter():
    script = (
        "import threading, saltus\n"
        "m = saltus.loads('model M Real x(start = 1, fixed = true); equation der(x) = -x; end M;')\n"
        "threading.Thread(target=lambda: m.simulate(1e5, interval=1000), daemon=True).start()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


def resident() -> int:
    """Bytes of memory in use."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="memory is read from /proc")
def test_memory_is_flat(ball):
    runs = int(os.environ.get("SALTUS_MEMORY_RUNS", "1500"))

    def many(count):
        for number in range(count):
            result = ball.simulate(0.7, set={"e": 0.5 + 0.4 * number / count}, outputs=["h", "v"])
            assert result["h"][0] == 1
        gc.collect()

    many(300)
    before = resident()
    many(runs)
    grown = resident() - before
    assert grown < 4 << 20, f"{grown} bytes more after {runs} runs"
