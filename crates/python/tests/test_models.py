"""Loading, tables, diagnostics, model files, pickling."""

import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import numpy as np
import pytest
import saltus
from conftest import BALL, EXAMPLES, SHAFTS


def test_the_last_model_is_meant_unless_one_is_named():
    text = "model A Real x = 1; end A; model B Real y = 2; end B;"
    assert saltus.loads(text).name == "B"
    assert saltus.loads(text, "A").name == "A"
    session = saltus.Session()
    session.add_text(text)
    assert session.models() == ["A", "B"]


def test_parameters_have_types_values_units_and_kinds():
    model = saltus.loads(
        """
        model M
          type Kind = enumeration(low, high);
          parameter Real k(unit = "N/m") = 2 "Stiffness";
          parameter Real twice = 2*k;
          parameter Integer n = 3;
          parameter Boolean on = true;
          parameter Kind kind = Kind.high;
          Real x[n] = {(if on then k else 0)*i for i in 1:n};
          Real y = if kind == Kind.high then 1 else 0;
        end M;
        """
    )
    k, n = model.parameters["k"], model.parameters["n"]
    assert (k.value, k.unit, k.description, k.type, k.kind) == (2.0, "N/m", "Stiffness", "Real", "run")
    assert (n.value, n.kind) == (3, "structural")
    assert model.parameters["twice"].value == 4.0
    assert model.parameters["on"].value is True
    assert model.parameters["kind"].value == "high"
    assert set(model.parameters.query("*", type="Integer")) == {"n"}
    assert "Stiffness" in repr(model.parameters) and "<table>" in model.parameters._repr_html_()


def test_values_of_every_type_can_be_set():
    model = saltus.loads(
        """
        model M
          type Kind = enumeration(low, high);
          parameter Real k = 1; parameter Boolean on = true; parameter Kind kind = Kind.low; parameter Integer i = 1;
          Real x = k + (if on then 10 else 0) + (if kind == Kind.high then 100 else 0) + 1000*i;
        end M;
        """
    )

    def x(**values):
        return float(model.simulate(set=values)["x"][-1])

    assert x() == 1011
    assert x(k=2.5, on=False, kind="high", i=2) == 2102.5
    assert x(k=np.float32(0.5), on=np.bool_(False), i=np.int8(3)) == 3000.5
    assert x(k=3.0, i=2.0) == 2013


def test_arrays_and_elements_can_be_set():
    model = saltus.loads(
        "model M parameter Real a[3] = {1, 2, 3}; parameter Real m[2,2] = {{1, 2}, {3, 4}};"
        " Real x = a[1] + 10*a[2] + 100*a[3]; Real y = m[1,1] + 10*m[1,2] + 100*m[2,1] + 1000*m[2,2]; end M;"
    )
    assert model.simulate(set={"a": [4, 5, 6]})["x"][0] == 654
    assert model.simulate(set={"a": np.array([4, 5, 6])})["x"][0] == 654
    assert model.simulate(set={"a[2]": 7})["x"][0] == 371
    assert model.simulate(set={"m": np.array([[5, 6], [7, 8]])})["y"][0] == 8765
    with pytest.raises(ValueError, match="has 3 elements, not 2"):
        model.simulate(set={"a": [1, 2]})


def test_values_that_shape_the_equations_compile_again():
    model = saltus.loads("model M parameter Integer n = 2; parameter Real k = 1; Real x[n] = {k*i for i in 1:n}; end M;")
    result = model.simulate(set={"n": 4, "k": 2})
    assert result["x[4]"][0] == 8
    assert "x[4]" not in model.simulate()
    assert saltus.loads("model M parameter Integer n = 2; Real x[n] = fill(time, n); end M;", set={"n": 3}).simulate()["x[3]"][-1] == 1


def test_start_values_can_be_set(ball):
    result = ball.simulate(stop=0.1, start_values={"h": 5.0})
    assert result["h"][0] == 5.0
    assert ball.simulate(stop=0.1, set={"h.start": 2})["h"][0] == 2
    model = saltus.loads("model M Real x[2](start = {1, 2}, each fixed = true); equation der(x) = -x; end M;")
    assert model.simulate(start_values={"x": [3, 4]})["x[2]"][0] == 4


def test_start_values_in_many_threads(ball):
    from concurrent.futures import ThreadPoolExecutor

    heights = [1 + 0.01 * (k % 40) for k in range(120)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda h: float(ball.simulate(0.05, start_values={"h": h})["h"][0]), heights))
    assert found == heights


def test_values_stay_with_a_model(ball):
    other = ball.with_values({"e": 0.5, "h.start": 2})
    assert other.simulate(stop=0.1)["h"][0] == 2
    assert float(other.simulate(stop=0.1)["e"][0]) == 0.5
    assert float(other.simulate(stop=0.1, set={"e": 0.25})["e"][0]) == 0.25
    assert float(ball.simulate(stop=0.1)["e"][0]) == 0.8


def test_what_is_wrong_with_a_model_is_an_exception_with_places():
    with pytest.raises(saltus.ModelError) as caught:
        saltus.loads("model M\n  Real x = y;\nend M;")
    diagnostic = caught.value.diagnostic
    assert (diagnostic.code, diagnostic.severity) == ("E0201", "error")
    assert (diagnostic.place.line, diagnostic.place.column) == (2, 12)
    assert "did you mean `x`?" in diagnostic.help[0]
    assert "Real x = y" in str(caught.value)
    assert "unknown name" in diagnostic.explain()
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is saltus.ModelError and again.diagnostics == caught.value.diagnostics


def test_check_and_analyze(shafts):
    assert shafts.check(all_modes=True) == []
    analysis = shafts.analyze()
    assert len(analysis.modes) == 2 and analysis.changes
    assert "<svg" in analysis._repr_html_() and "digraph" in analysis.graph_dot()
    session = saltus.Session()
    session.add_text("model M Real x, y; equation x = y; end M;")
    assert any(diagnostic.is_error for diagnostic in session.check("M"))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(saltus.ModelError, match="nowhere.mo"):
        saltus.load(tmp_path / "nowhere.mo")
    with pytest.raises(FileNotFoundError):
        saltus.load(tmp_path / "nowhere.saltus")


def test_model_files(tmp_path, ball):
    path = tmp_path / "Ball.saltus"
    ball.save(path)
    again = saltus.load(path, set={"e": 0.5})
    assert np.array_equal(again.simulate(1)["h"], ball.simulate(1, set={"e": 0.5})["h"])
    with pytest.raises(saltus.SimulationError, match="Load the Modelica file"):
        again.simulate(start_values={"h": 2})
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 255
    with pytest.raises(saltus.FileError):
        saltus.Model.from_bytes(bytes(damaged))
    with pytest.raises(saltus.FileError):
        saltus.Model.from_bytes(b"")


def end_of(model, k):
    return float(model.simulate(1, set={"e": k})["h"][-1])


def test_models_go_to_other_processes(ball):
    again = pickle.loads(pickle.dumps(ball.with_values({"e": 0.7})))
    assert end_of(again, 0.6) == end_of(ball, 0.6)
    assert float(again.simulate(0.1)["e"][0]) == 0.7
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        assert list(pool.map(end_of, [ball] * 4, [0.5, 0.6, 0.7, 0.8])) == [end_of(ball, e) for e in (0.5, 0.6, 0.7, 0.8)]


def test_libraries_are_found(tmp_path):
    package = tmp_path / "Lib"
    package.mkdir()
    (package / "package.mo").write_text("package Lib model M Real x = 3; end M; end Lib;")
    session = saltus.Session(libraries=[tmp_path])
    assert session.model("Lib.M").simulate()["x"][0] == 3
    assert saltus.loads("model N extends Lib.M; end N;", libraries=[str(tmp_path)]).simulate()["x"][0] == 3


def test_all_examples_load():
    for path in sorted(EXAMPLES.rglob("*.mo"))[:12]:
        assert saltus.load(path).variables


def test_the_magic_compiles_a_cell():
    pytest.importorskip("IPython")
    script = (
        "from IPython.core.interactiveshell import InteractiveShell as S\n"
        "shell = S.instance()\n"
        "shell.run_line_magic('load_ext', 'saltus')\n"
        "shell.run_cell_magic('modelica', 'm', 'model M Real x = time; end M;')\n"
        "assert shell.user_ns['m'].simulate()['x'][-1] == 1\n"
        "shell.run_cell_magic('modelica', '', 'model N Real x = y; end N;')\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "E0201" in done.stdout


def test_shafts_conserve_momentum():
    model = saltus.loads(SHAFTS)
    result = model.simulate(2, set={"J1": 4})
    assert result.at(1.0)["w1"] == pytest.approx(5.0)
    assert result.at(1.0, side="left")["w1"] == 0.0
    assert BALL
