"""Examples in docstrings run."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest
import saltus
from conftest import EXAMPLES

MODULES = sorted(
    module.name for module in pkgutil.iter_modules(saltus.__path__, "saltus.") if not module.name.endswith(("_native", "__main__"))
)


@pytest.mark.parametrize("name", ["saltus", *MODULES])
def test_docstrings(name):
    module = importlib.import_module(name)
    if name == "saltus._fit":
        pytest.importorskip("scipy")
    names = {"saltus": saltus, "np": np, "examples": EXAMPLES}
    found = doctest.testmod(module, extraglobs=names, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert found.failed == 0


def test_there_are_examples():
    finder = doctest.DocTestFinder()
    count = sum(len(test.examples) for name in MODULES for test in finder.find(importlib.import_module(name)))
    assert count > 40


def test_everything_public_is_documented():
    for name in saltus.__all__:
        thing = getattr(saltus, name)
        if isinstance(thing, str):
            continue
        assert thing.__doc__, name
        if isinstance(thing, type):
            for method, value in vars(thing).items():
                if not method.startswith("_") and (callable(value) or isinstance(value, property)):
                    assert value.__doc__, f"{name}.{method}"
