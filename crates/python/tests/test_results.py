"""Results: views, limits, events, other forms, files."""

import gc
import pickle
import weakref

import numpy as np
import pytest
import saltus


def test_arrays_share_memory_and_outlive_the_result(ball):
    result = ball.simulate(2)
    h = result["h"]
    assert np.shares_memory(h, result["h"]) and not h.flags.writeable and not h.flags.owndata
    with pytest.raises(ValueError):
        h[0] = 1
    copy = h.copy()
    gone = weakref.ref(result)
    del result
    gc.collect()
    assert gone() is None
    junk = [ball.simulate(2) for _ in range(20)]
    assert np.array_equal(h, copy) and len(junk) == 20


def test_columns_have_equal_lengths_and_types(ball):
    result = ball.simulate(2)
    assert result.time.dtype == np.float64 and result.mode.dtype == np.uint32 and result.kind.dtype == np.uint8
    for name in result.names():
        assert result[name].shape == result.time.shape == (len(result),)
    assert np.array_equal(result["minus"], -result["v"])
    assert np.array_equal(result["time"], result.time)
    assert "h" in result and "nothing" not in result and 3 not in result
    assert "h" in list(result)


def test_limits_at_events(shafts):
    result = shafts.simulate(2)
    left, right = np.flatnonzero(result.time == 1.0)
    assert (result.kind[left], result.kind[right]) == (1, 3)
    assert result["w1"][left] == 0 and result["w1"][right] == pytest.approx(8)
    assert result.mode[left] != result.mode[right]
    assert result.at(1.0, side="left")["w2"] == 10 and result.at(1.0)["w2"] == pytest.approx(8)
    event = result.events[-1]
    assert event.time == 1.0 and event.triggers[0].condition == "time < 1"
    assert event.triggers[0].place.line == 8
    assert {jump.variable: (jump.left, jump.right) for jump in event.jumps}["w1"] == (0.0, pytest.approx(8.0))
    assert [impulse.weight for impulse in event.impulses if impulse.variable == "tau"] == [pytest.approx(8.0)]
    assert result.modes[result.mode[0]].conditions != result.modes[result.mode[-1]].conditions
    assert [time for time, _ in result.events.impulses("tau")] == [1.0]


def test_outputs_by_pattern(ball):
    result = ball.simulate(2, outputs=["h", "der*"])
    assert "h" in result and "v" not in result and "der(v)" in result
    full = ball.simulate(2)
    assert np.array_equal(result["h"], full["h"])
    with pytest.raises(saltus.UnknownNameError, match="nothing"):
        ball.simulate(2, outputs="nothing*")


def test_unknown_names_propose_others(ball):
    result = ball.simulate(0.1)
    with pytest.raises(KeyError, match="H"):
        result["H"]
    with pytest.raises(TypeError):
        result[0]
    with pytest.raises(saltus.UnknownNameError, match="did you mean"):
        ball.variables["x.h"]


def test_resample(shafts):
    result = shafts.simulate(2)
    values = result.resample(np.linspace(0, 2, 5), ["w1"])
    assert values["w1"] == pytest.approx([0, 0, 8, 8, 8])
    left = result.resample([1.0], "w1", side="left")
    assert left["w1"][0] == 0
    for grid in ([-0.1], [2.1], [float("nan")]):
        with pytest.raises(ValueError, match="outside"):
            result.resample(grid)
    with pytest.raises(ValueError, match="side"):
        result.resample([1], side="middle")


def test_frames(ball):
    result = ball.simulate(2)
    pandas = pytest.importorskip("pandas")
    frame = result.to_pandas(["h", "v"])
    assert list(frame.columns) == ["h", "v"] and frame.index.name == "time"
    assert isinstance(result.events.to_pandas(), pandas.DataFrame)
    assert ball.parameters.to_pandas().loc["e", "value"] == 0.8


def test_polars(ball):
    pytest.importorskip("polars")
    result = ball.simulate(2)
    assert np.array_equal(result.to_polars("h")["h"].to_numpy(), result["h"])


def test_xarray(ball):
    pytest.importorskip("xarray")
    data = ball.simulate(2).to_xarray(names=["h"])
    assert data["h"].attrs["units"] == "m" and data.indexes["time"].is_unique


def test_arrow_and_parquet(ball, tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    result = ball.simulate(2)
    table = result.to_arrow(["h"])
    assert table.schema.field("h").metadata[b"unit"] == b"m"
    result.save(tmp_path / "r.parquet", "h")
    again = pyarrow.parquet.read_table(tmp_path / "r.parquet")
    assert np.array_equal(again["h"].to_numpy(), result["h"])


def test_files_are_read_back(ball, tmp_path):
    result = ball.simulate(2)
    for name in ("r.csv", "r.mat"):
        result.save(tmp_path / name, events=tmp_path / "events.json")
        again = saltus.read(tmp_path / name, events=tmp_path / "events.json")
        assert np.array_equal(again["h"], result["h"]) and np.array_equal(again.time, result.time)
        assert again.events[1].time == result.events[1].time
        assert again.model_name == "Ball" and again.status == "completed"
    with pytest.raises(saltus.RequestError, match="csv"):
        result.save(tmp_path / "r.docx")
    with pytest.raises(OSError):
        result.save(tmp_path / "no" / "folder" / "r.csv")
    with pytest.raises(saltus.FileError):
        saltus.read(tmp_path / "nothing.csv")
    (tmp_path / "bad.mat").write_bytes(b"\0\1\2")
    with pytest.raises(saltus.FileError):
        saltus.read(tmp_path / "bad.mat")


def test_results_are_pickled_bit_by_bit(shafts):
    result = shafts.simulate(2)
    again = pickle.loads(pickle.dumps(result))
    for name in result.names():
        assert np.array_equal(again[name], result[name], equal_nan=True), name
    assert list(again.events) == list(result.events) and again.modes == result.modes
    assert np.array_equal(again.kind, result.kind) and np.array_equal(again.mode, result.mode)
    assert repr(again) == repr(result)


def test_pictures(shafts):
    result = shafts.simulate(2)
    assert result._repr_svg_().startswith("<svg")
    report = result.report("w1", title="A <b>title</b>")
    assert report.html.startswith("<!doctype html>") and "A &lt;b&gt;title" in report.html
    # A frame that cannot touch the notebook, and no quote that ends its text.
    shown = report._repr_html_()
    assert 'sandbox="allow-scripts"' in shown and shown.count('"') == 10
    assert "w1" in result.svg("w1", title="Title", time_range=(0.5, 1.5))
    with pytest.raises(saltus.UnknownNameError):
        result.svg("nothing")
    with pytest.raises(saltus.Error):
        result.svg(time_range=(1, 0))


def test_axes(shafts):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    result = shafts.simulate(2)
    axes = result.plot(["w1", "w2", "tau"])
    assert len(axes.get_lines()) == 3 and len(axes.patches) >= 1
    # Nothing is drawn across a jump.
    assert np.isnan(axes.get_lines()[0].get_ydata()).any()
    assert len(axes.texts) == 1
    import matplotlib.pyplot as pyplot

    other, ax = pyplot.subplots()
    assert result.plot("w1", ax=ax, modes=False) is ax
    pyplot.close("all")


def test_what_a_run_tells(ball):
    result = ball.simulate(2)
    assert result.status == "completed" and result.failure is None and result.message is None
    assert result.counts["events"] == 4 or result.counts["events"] > 0
    assert result.settings["stop"] == "2" and "integrate" in result.seconds
    assert "Ball" in repr(result) and "events" in repr(result.events)
