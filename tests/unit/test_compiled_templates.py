"""Compiled templates are kept, and never used in place of what they were not compiled from."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jinja2 import DictLoader
from jinja2.bccache import Bucket

from pbmserv.letters import environment
from pbmserv.letters.environment import CompiledTemplates, LetterEnvironment, environment_of

SOURCE = "Hello {{ name }}!"


class Watched(CompiledTemplates):
    """Counts what had to be compiled."""

    compiled = 0

    def dump_bytecode(self, bucket: Bucket) -> None:
        self.compiled += 1
        super().dump_bytecode(bucket)


def compiled(
    folder: Path, source: str = SOURCE, kind: type[LetterEnvironment] = LetterEnvironment
) -> int:
    """Render a template as a process does that has just begun; whether it had to be compiled."""
    templates = environment_of(kind, DictLoader({"a.j2": source}))
    templates.bytecode_cache = kept = Watched(folder)
    assert templates.get_template("a.j2").render(name="Ann") == source.replace("{{ name }}", "Ann")
    return kept.compiled


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    folder = tmp_path / "cache"
    assert compiled(folder)
    assert not compiled(folder)
    assert folder.stat().st_mode & 0o777 == 0o700


def test_what_it_is_compiled_from_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert compiled(tmp_path)
    assert compiled(tmp_path, "Good evening {{ name }}!")
    assert not compiled(tmp_path, "Good evening {{ name }}!")
    monkeypatch.setattr(environment, "_SHEETS", ("letters/adaptive.css",))  # as if another sheet
    assert compiled(tmp_path, "Good evening {{ name }}!")


def test_another_kind_of_environment_compiles_its_own(tmp_path: Path) -> None:
    class Other(LetterEnvironment):
        pass

    assert compiled(tmp_path)
    assert compiled(tmp_path, kind=Other)
    assert not compiled(tmp_path)


@pytest.mark.parametrize("damage", ["emptied", "cut", "changed"])
def test_a_damaged_file_is_compiled_anew(tmp_path: Path, damage: str) -> None:
    """A machine that lost its power may have kept a file in part."""
    assert compiled(tmp_path)
    (file,) = tmp_path.iterdir()
    whole = file.read_bytes()
    made = {"emptied": b"", "cut": whole[:-40], "changed": whole[:60] + b"\0" * (len(whole) - 60)}
    file.write_bytes(made[damage])
    assert compiled(tmp_path)
    assert file.read_bytes() == whole
    assert not compiled(tmp_path)


def test_nothing_can_be_kept(tmp_path: Path) -> None:
    """No folder can be made below a file, by nobody."""
    taken = tmp_path / "taken"
    taken.touch()
    assert compiled(taken / "cache")
    assert compiled(taken / "cache")
    assert list(tmp_path.iterdir()) == [taken]


def test_no_string_of_a_template_has_an_escape_but_for_quotes_and_line_ends() -> None:
    for path in environment.templates_root().rglob("*.j2"):
        found = re.search(r"\\(?![\\\"'n])", path.read_text("utf-8"))
        assert found is None, f"{path}: a letter behind a backslash is lost"
