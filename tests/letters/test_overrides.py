"""Templates of an operator: which ones are used, and what is said about the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from examples import DEEP

from pbmserv.cli.main import run
from pbmserv.errors import OperatorError
from pbmserv.views import overrides
from pbmserv.views.environment import environment_of, templates_root
from pbmserv.views.template_loader import TemplateLoader

pytestmark = pytest.mark.slow

LETTER = "letters/address-asked.j2"
UNKNOWN_VALUES = (
    [("help", "\n{{ hose }}", 2, "no template gets a value called hose")] if DEEP else []
)
"""Faults that are found among the values of all templates, which takes a second."""


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    file.chmod(0o644)
    return file


def test_shipped_templates_can_be_copied_and_changed(tmp_path: Path) -> None:
    shipped = overrides.shipped_names()
    assert len(shipped) > 300
    names = [name for name in shipped if not name.endswith(".j2")] + shipped[:: 1 if DEEP else 160]
    for name in dict.fromkeys(names):
        text = overrides.shipped_text(name)
        changed = f"{{# Ours. #}}\n{text}" if name.endswith(".j2") else f"{text}\n"
        write(tmp_path, name, changed)
    checked = overrides.check(tmp_path)
    assert checked.faults == ()
    assert set(checked.usable) == set(names)


def test_templates_with_faults_are_reported_and_not_used(tmp_path: Path) -> None:
    text = overrides.shipped_text(LETTER)
    ends = text.count("\n")
    lacking = (
        (LETTER, "Hello!", "it lacks the block headline, html, subject, text"),
        ("web/problems.j2", "{% block fault %}Oh.{% endblock %}", "it lacks the block away, "),
        ("palette.j2", "{# no colours #}", "it lacks the macro or value "),
        ("letters/adress-asked.j2", "Hello!", f"did you mean {LETTER}?"),
    )
    expected = {name: why for name, _, why in lacking}
    for name, wrong, _ in lacking:
        write(tmp_path, name, wrong)
    for name, more, line, why in (
        ("list", "\n{% if %}", 2, "Expected an expression"),
        ("show", "\n\n{{ house|upside_down }}", 3, "No filter named 'upside_down'"),
        *UNKNOWN_VALUES,
        ("games", '\n{% include "letters/pieces/x.j2" %}', 2, "no template of this"),
    ):
        shipped = overrides.shipped_text(f"letters/{name}.j2")
        write(tmp_path, f"letters/{name}.j2", shipped + more)
        expected[f"letters/{name}.j2"] = f", line {shipped.count(chr(10)) + line}: {why}"
    write(tmp_path, "letters/board.j2", text.replace("{% endblock %}", "", 1))
    expected["letters/board.j2"] = f", line {ends}: Unexpected end of template"
    own = "letters/pieces/undone.j2"
    write(tmp_path, own, f'{overrides.shipped_text(own)}{{% include "{own}" %}}\n')
    expected[own] = "it includes itself"
    for name in ("letters/.address-asked.j2.swp", "..data/letters/address-asked.j2"):
        write(tmp_path, name, "{% if %}")

    checked = overrides.check(tmp_path)
    assert checked.usable == {}
    messages = {str(fault.file.relative_to(tmp_path)): str(fault) for fault in checked.faults}
    assert messages.keys() == expected.keys()
    for name, why in expected.items():
        assert why in messages[name], messages[name]
        assert messages[name].startswith(str(tmp_path / name))
        assert messages[name].endswith("; the shipped template is used")
        assert "\n" not in messages[name]


def test_files_that_cannot_be_trusted_or_read_are_not_used(tmp_path: Path) -> None:
    file = write(tmp_path, LETTER, overrides.shipped_text(LETTER))
    file.chmod(0o666)
    (open_to_all,) = overrides.check(tmp_path).faults
    assert "everybody on this machine can write to it" in str(open_to_all)
    file.chmod(0o644)
    file.write_bytes(b"{# fine #}\n{# \xff #}\n")
    (not_text,) = overrides.check(tmp_path).faults
    assert (not_text.line, not_text.why) == (2, "it is not UTF-8; save it as UTF-8")
    with pytest.raises(OperatorError, match="name a folder that the server can read"):
        overrides.check(tmp_path / "none")


def test_words_and_styles_of_the_operator_are_in_letters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = "Somebody with your password, hopefully you,"
    write(tmp_path, LETTER, overrides.shipped_text(LETTER).replace(words, "Dear you,"))
    sheet = overrides.shipped_text("letters/letter.css")
    write(tmp_path, "letters/letter.css", f"{sheet}\np {{ letter-spacing: 7px }}\n")
    templates = environment_of(TemplateLoader(templates_root()))
    monkeypatch.setattr(overrides, "environment", lambda: templates)
    assert overrides.use(tmp_path) == ()
    values = {"words": {"userid": "eve", "new": ["a@b.example"], "dropped": []}, "house": "us"}
    for form, block in (("txt", "text"), ("html", "html")):
        template = templates.get_template(f"letters/address-asked.{form}.j2")
        shown = "".join(template.blocks[block](template.new_context(values)))
        assert "Dear you," in shown
        assert (form == "html") == ("letter-spacing:7px" in shown.replace(": ", ":"))


def test_commands_list_show_and_check_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "own"
    monkeypatch.setenv("PBMSERV_TEMPLATES", str(own))
    monkeypatch.setenv("PBMSERV_DATA_DIR", str(tmp_path))

    def printed(*command: str, code: int = 0) -> tuple[str, str]:
        assert run(list(command)) == code
        return capsys.readouterr()

    text, _ = printed("templates", "show", LETTER)
    assert text == overrides.shipped_text(LETTER)
    write(own, LETTER, text)
    write(own, "letters/nonsense.j2", "")
    listed = printed("templates", "list")[0].splitlines()
    assert f"{LETTER}  ({own / LETTER})" in listed
    assert len(listed) == len(overrides.shipped_names())
    checked, faults = printed("templates", "check", code=1)
    assert checked == "1 of your templates can be used.\n"
    sentence = f"{own / 'letters/nonsense.j2'}: no template of this version is called"
    assert faults.startswith(sentence)
    assert printed("config")[1].startswith(sentence)
    (own / "letters/nonsense.j2").unlink()
    printed("templates", "check")
    printed("templates", "show", "nonsense", code=1)
