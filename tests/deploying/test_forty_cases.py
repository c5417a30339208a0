"""`deploy/tests/forty_cases.py`: there are forty cases, and each names tests that exist."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch):
    path = ROOT / "deploy" / "tests" / "forty_cases.py"
    spec = importlib.util.spec_from_file_location("forty_cases", path)
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "forty_cases", module)
    spec.loader.exec_module(module)
    return module


def test_each_case_names_tests_that_exist(script) -> None:
    assert len(script.CASES) == 40
    for case in script.CASES:
        for node in () if callable(case.proof) else case.proof:
            file, _, name = node.partition("::")
            text = (ROOT / "tests" / file).read_text()
            assert not name or f"def {name}(" in text, node


def test_the_page_has_each_case(script) -> None:
    page = (ROOT / "docs" / "operating" / "forty-cases.md").read_text()
    for number, case in enumerate(script.CASES, 1):
        assert f"| {number} | {case.area} | {case.promise} | " in page, case.promise
