#!/usr/bin/env python3
"""Units in FMPy in the ways in which tools use them, beside running examples (`fmpy_examples.py`):

    python3 tests/fmi/fmpy_ways.py target/debug/saltus [--runtime FILE]

sizes that are chosen in Configuration Mode, two different units in one process taking turns, loading and unloading a hundred times,
a model without states, ten thousand variables, derivatives, paths with blanks and umlauts. Says so and succeeds where FMPy is not
installed (`pip install fmpy`).
"""

import argparse
import ctypes
import math
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Place:
    """A folder with units."""

    def __init__(self, saltus, runtime, folder):
        self.saltus, self.runtime, self.folder = saltus, runtime, pathlib.Path(folder)

    def unit(self, model, *options, name=None):
        """The unit of a file, or of a text."""
        if "\n" in str(model):
            name = str(model).split()[1]
            path = self.folder / f"{name}.mo"
            path.write_text(model)
            model = path
        out = self.folder / f"{name or pathlib.Path(model).stem} größer.fmu"
        command = [self.saltus, "fmu", "export", model, "-o", out, *options]
        subprocess.run(command + (["--runtime", self.runtime] if self.runtime else []), check=True, stdout=subprocess.DEVNULL)
        from fmpy.validation import validate_fmu

        problems = validate_fmu(str(out))
        assert not problems, problems
        return out


def opened(unit, kind):
    """An instance by FMPy's own classes, with the numbers of its variables and the folder to be removed."""
    import fmpy
    from fmpy.fmi3 import FMU3Model, FMU3Slave

    description = fmpy.read_model_description(str(unit))
    folder = fmpy.extract(str(unit))
    exchange = kind == "me"
    interface = description.modelExchange if exchange else description.coSimulation
    make = FMU3Model if exchange else FMU3Slave
    instance = make(
        guid=description.guid, unzipDirectory=folder, modelIdentifier=interface.modelIdentifier, instanceName="instance"
    )
    instance.instantiate()
    return instance, {variable.name: variable.valueReference for variable in description.modelVariables}


def sizes(place):
    """The slowest mode of a chain of n masses, integrated by the unit and by a Runge-Kutta method here."""
    unit = place.unit(ROOT / "examples/mechanics/ChainOfMasses.mo", "--structural", "n=1..8")
    for n in range(1, 9):
        w = 2 * math.sqrt(10) * math.sin(math.pi / (2 * (2 * n + 1)))
        expected = [math.sin(i * math.pi / (2 * n + 1)) * math.cos(w * 2) for i in range(1, n + 1)]
        for kind in ("cs", "me"):
            instance, at = opened(unit, kind)
            instance.enterConfigurationMode()
            instance.setUInt64([at["n"]], [n])
            instance.exitConfigurationMode()
            assert instance.getUInt64([at["n"]])[0] == n
            instance.enterInitializationMode(startTime=0, stopTime=2, tolerance=1e-9)
            instance.exitInitializationMode()
            if kind == "cs":
                for step in range(10):
                    instance.doStep(currentCommunicationPoint=0.2 * step, communicationStepSize=0.2)
            else:
                integrate(instance, 2 * n, 2.0, 400)
            found = list(instance.getFloat64([at["s"]], nValues=n))
            assert max(abs(a - b) for a, b in zip(found, expected)) < 1e-6, (n, kind, found, expected)
            instance.terminate()
            instance.freeInstance()


def integrate(instance, states, until, steps):
    """The classical Runge-Kutta method, without events."""
    instance.updateDiscreteStates()
    instance.enterContinuousTimeMode()
    room = ctypes.c_double * states
    count = ctypes.c_size_t()
    instance.fmi3GetNumberOfContinuousStates(instance.component, ctypes.byref(count))
    assert count.value == states
    x, rates = room(), room()
    instance.getContinuousStates(x, states)
    y, h = list(x), until / steps

    def rate(t, y):
        instance.setTime(t)
        instance.setContinuousStates(room(*y), states)
        instance.getContinuousStateDerivatives(rates, states)
        return list(rates)

    for step in range(steps):
        t = step * h
        a = rate(t, y)
        b = rate(t + h / 2, [u + h / 2 * v for u, v in zip(y, a)])
        c = rate(t + h / 2, [u + h / 2 * v for u, v in zip(y, b)])
        d = rate(t + h, [u + h * v for u, v in zip(y, c)])
        y = [u + h / 6 * (p + 2 * q + 2 * r + s) for u, p, q, r, s in zip(y, a, b, c, d)]
    instance.setTime(until)
    instance.setContinuousStates(room(*y), states)


def turns(place):
    """Two different units in one process, step by step in turn, give what each gives alone."""
    units = [place.unit(ROOT / f"examples/{name}.mo") for name in ("mechanics/CupAndBall", "electrical/DiodeBridge")]

    def run(chosen):
        instances = [opened(unit, "cs") for unit in chosen]
        stops = [0.02 if "Diode" in unit.name else 2.0 for unit in chosen]
        for (instance, _), stop in zip(instances, stops):
            instance.enterInitializationMode(startTime=0, stopTime=stop)
            instance.exitInitializationMode()
        rows = [[] for _ in chosen]
        for step in range(40):
            for (instance, at), stop, row in zip(instances, stops, rows):
                instance.doStep(currentCommunicationPoint=stop / 40 * step, communicationStepSize=stop / 40)
                row.append(tuple(instance.getFloat64(sorted(at.values())[1:4])))
        for instance, _ in instances:
            instance.terminate()
            instance.freeInstance()
        return rows

    together = run(units)
    assert together == run(units[:1]) + run(units[1:])


def again_and_again(place):
    """Loaded, run and unloaded a hundred times."""
    unit = place.unit(ROOT / "examples/mechanics/TwoBlocks.mo")
    import fmpy
    from fmpy.fmi3 import FMU3Slave

    description, folder = fmpy.read_model_description(str(unit)), fmpy.extract(str(unit))
    for _ in range(100):
        instance = FMU3Slave(
            guid=description.guid,
            unzipDirectory=folder,
            modelIdentifier=description.coSimulation.modelIdentifier,
            instanceName="instance",
        )
        instance.instantiate()
        instance.enterInitializationMode(startTime=0)
        instance.exitInitializationMode()
        instance.doStep(currentCommunicationPoint=0, communicationStepSize=0.1)
        instance.terminate()
        # FMPy unloads the library here.
        instance.freeInstance()


def nothing_to_integrate(place):
    """A model without states."""
    import fmpy

    unit = place.unit("model Switch\n  output Real y = if time < 0.5 then 1 else 2*time;\nend Switch;\n")
    for fmi_type in ("ModelExchange", "CoSimulation"):
        result = fmpy.simulate_fmu(str(unit), fmi_type=fmi_type, stop_time=1, output_interval=0.1, output=["y"])
        assert abs(result["y"][-1] - 2) < 1e-9 and result["y"][0] == 1


def many(place):
    """Ten thousand variables."""
    import fmpy

    text = """model Many
  parameter Integer n = 5000;
  parameter Real k[n] = {1 + i/n for i in 1:n};
  Real x(start = 1, fixed = true);
  output Real y[n] = k*x;
equation
  der(x) = -x;
end Many;
"""
    unit = place.unit(text)
    assert len(fmpy.read_model_description(str(unit)).modelVariables) > 10000
    for fmi_type in ("ModelExchange", "CoSimulation"):
        options = dict(stop_time=0.1, output_interval=0.05, relative_tolerance=1e-8, output=["y[1]", "y[5000]"])
        result = fmpy.simulate_fmu(str(unit), fmi_type=fmi_type, **options)
        assert abs(result["y[5000]"][-1] - 2 * math.exp(-0.1)) < 1e-6


def derivatives(place):
    """Directional and adjoint derivatives of outputs and rates by states and inputs."""
    text = """model Slopes
  input Real u(start = 2);
  Real x(start = 3, fixed = true), z(start = 0.5);
  output Real y = x*x*u + z;
equation
  z^3 + z = x*u;
  der(x) = -x*z + sin(u);
end Slopes;
"""
    instance, at = opened(place.unit(text, "--type", "me"), "me")
    instance.enterInitializationMode(startTime=0)
    instance.exitInitializationMode()
    instance.updateDiscreteStates()
    instance.enterContinuousTimeMode()
    z = instance.getFloat64([at["z"]])[0]
    slope = 1 / (3 * z * z + 1)
    exact = {
        ("y", "x"): 2 * 3 * 2 + slope * 2,
        ("y", "u"): 9 + slope * 3,
        ("der(x)", "x"): -z - 3 * slope * 2,
        ("der(x)", "u"): -3 * slope * 3 + math.cos(2),
    }
    for (unknown, known), value in exact.items():
        found = instance.getDirectionalDerivative([at[unknown]], [at[known]], [1.0])[0]
        assert abs(found - value) < 1e-12 * abs(value), (unknown, known, found, value)
    adjoint = instance.getAdjointDerivative([at["y"], at["der(x)"]], [at["x"], at["u"]], [1.0, 2.0])
    for found, known in zip(adjoint, ("x", "u")):
        value = exact["y", known] + 2 * exact["der(x)", known]
        assert abs(found - value) < 1e-12 * abs(value)
    instance.freeInstance()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("saltus")
    parser.add_argument("--runtime", default="")
    arguments = parser.parse_args()
    try:
        import fmpy  # noqa: F401
    except ImportError:
        print("FMPy is not installed: no unit was run in another tool")
        return 0
    with tempfile.TemporaryDirectory(prefix="saltus fmü ") as folder:
        place = Place(str(pathlib.Path(arguments.saltus).resolve()), arguments.runtime, folder)
        for way in (sizes, turns, again_and_again, nothing_to_integrate, many, derivatives):
            way(place)
            print(f"{way.__name__:22} ok", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
