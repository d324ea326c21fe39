"""The pages of the guide about Python run, and print what they show."""

import contextlib
import io
import pathlib
import re
import shutil

import pytest
from conftest import EXAMPLES, ROOT

PAGES = sorted((ROOT / "docs" / "src").glob("python*.md"))
BLOCK = re.compile(r"```python\n(.*?)```\n(?:```text\n(.*?)```\n)?", re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_page(page: pathlib.Path, tmp_path, monkeypatch):
    if "fitting" in page.name:
        pytest.importorskip("scipy")
    shutil.copytree(EXAMPLES, tmp_path / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall(page.read_text(encoding="utf-8"))
    assert len(blocks) >= 4
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, page.name, "exec"), names)
        assert printed.getvalue() == shown, code


def test_there_are_pages():
    assert sorted(page.stem for page in PAGES) == ["python", "python-fitting", "python-sweeps"]
