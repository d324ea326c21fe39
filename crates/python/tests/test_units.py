"""Functional mock-up units."""

import os
import pathlib
import zipfile

import pytest
import saltus

MODEL = """
model M
  parameter Real k = 2;
  output Real x(start = 1, fixed = true);
equation
  der(x) = -k*x;
end M;
"""


def runtime() -> pathlib.Path:
    """The library that goes into units, if somebody has built it."""
    given = os.environ.get("SALTUS_FMI_RUNTIME")
    target = pathlib.Path(__file__).parents[3] / "target"
    built = [target / profile / "deps" / "libsaltus_fmi_runtime.so" for profile in ("debug", "release")]
    for path in [pathlib.Path(given)] if given else built:
        if path.is_file():
            return path
    pytest.skip("the runtime of units has not been built")


@pytest.mark.parametrize("fmi, folder", [(3, "x86_64-linux"), (2, "linux64")])
def test_a_model_becomes_a_unit(tmp_path, fmi, folder):
    path = tmp_path / "M.fmu"
    saltus.loads(MODEL).export_fmu(path, fmi=fmi, type="cs", runtime=runtime())
    with zipfile.ZipFile(path) as unit:
        names = unit.namelist()
        description = unit.read("modelDescription.xml").decode()
    assert f'fmiVersion="{fmi}.0"' in description
    assert "<CoSimulation" in description and "<ModelExchange" not in description
    assert any(name.startswith("binaries/") for name in names)


def test_what_is_asked_for_must_exist(tmp_path, monkeypatch):
    model = saltus.loads(MODEL)
    with pytest.raises(ValueError, match="2 or 3"):
        model.export_fmu(tmp_path / "M.fmu", fmi=1)
    with pytest.raises(ValueError, match="'me', 'cs' or both"):
        model.export_fmu(tmp_path / "M.fmu", type="xx")
    monkeypatch.delenv("SALTUS_FMI_RUNTIME", raising=False)
    with pytest.raises(FileNotFoundError):
        model.export_fmu(tmp_path / "M.fmu", runtime=tmp_path / "missing.so")


def test_a_unit_becomes_a_component(tmp_path):
    saltus.loads(MODEL).export_fmu(tmp_path / "M.fmu", runtime=runtime())
    from saltus._cli import main

    assert main(["fmu", "import", str(tmp_path / "M.fmu"), "-o", str(tmp_path / "Imported.mo"), "-q"]) == 0
    model = saltus.load(tmp_path / "Imported.mo")
    with pytest.raises(saltus.SimulationError, match="has not been allowed"):
        model.simulate(stop=1)
    result = model.allow_fmu().simulate(stop=1, set={"k": 3}, tolerance=1e-9)
    assert abs(result["x"][-1] - 2.718281828459045**-3) < 1e-6


CHAIN = """
model Chain
  parameter Integer n = 2 "Number of tanks";
  input Real u;
  output Real x[n](each start = 1, each fixed = true);
equation
  for i in 1:n loop
    der(x[i]) = u - i*x[i];
  end for;
end Chain;
"""


def test_importers_choose_sizes(tmp_path):
    model = saltus.loads(CHAIN)
    model.export_fmu(tmp_path / "Chain.fmu", structural={"n": (1, 4)}, runtime=runtime())
    with zipfile.ZipFile(tmp_path / "Chain.fmu") as unit:
        description = unit.read("modelDescription.xml").decode()
        names = unit.namelist()
    assert 'name="n"' in description and 'causality="structuralParameter"' in description and "<Dimension valueReference" in description
    assert [n for n in (1, 2, 3, 4) if f"resources/sizes/{n}/model.saltus" in names] == [1, 3, 4]
    for structural, words in [
        ({"n": (3, 4)}, "with 2 among them"),
        ({"n": (0, 4)}, "begin at 1"),
        ({"n": (1, 2000)}, "no more than 1000"),
    ]:
        with pytest.raises(ValueError, match=words):
            model.export_fmu(tmp_path / "M.fmu", structural=structural, runtime=runtime())
    with pytest.raises(KeyError):
        model.export_fmu(tmp_path / "M.fmu", structural={"m": (1, 2)}, runtime=runtime())
    with pytest.raises(ValueError, match="gives no sizes"):
        saltus.loads(MODEL).export_fmu(tmp_path / "M.fmu", structural={"k": (1, 2)}, runtime=runtime())
    with pytest.raises(ValueError, match="FMI 2 has no arrays"):
        model.export_fmu(tmp_path / "M.fmu", fmi=2, arrays=True, runtime=runtime())
