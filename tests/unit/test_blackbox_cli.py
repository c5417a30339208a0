"""``pbmserv blackbox rays``: one box on the command line, many on standard input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from rows import rows
from typer.testing import CliRunner, Result

from pbmserv.cli.blackbox import app

CASES: list[dict[str, Any]] = json.loads(
    (Path(__file__).resolve().parent.parent / "golden" / "blackbox" / "ray_cases.json").read_text()
)


def run(*arguments: str, typed: str | bytes = "") -> Result:
    return CliRunner().invoke(app, ["rays", *arguments], input=typed)


def test_one_box_is_answered_in_port_order() -> None:
    result = run("--size", "7x7", "--atoms", "G1 B2 B4 F5")
    assert result.exit_code == 0
    assert result.stdout == (
        "A:1 B:# C:# D:K E:# F:% G:# 8:# 9:% 10:% 11:# 12:# 13:N 14:7 "
        "H:5 I:# J:# K:D L:6 M:# N:13 1:A 2:# 3:% 4:# 5:H 6:L 7:14\n"
    )


def test_many_boxes_are_answered_line_by_line() -> None:
    lines = "".join(
        json.dumps({key: case[key] for key in ("w", "h", "atoms")}) + "\n" for case in CASES
    )
    result = run(typed=lines + "\n")
    assert result.exit_code == 0
    assert [json.loads(line) for line in result.stdout.splitlines()] == [c["all"] for c in CASES]


@rows(
    ("arguments", "why"),
    [
        (["--size", "7", "--atoms", "A1"], "--size '7' is not a size; write it like 7x7"),
        (
            ["--size", "1x7", "--atoms", "A1"],
            "size 1x7: sides of 2 cells or more, together 52 at most",
        ),
        (["--atoms", "A1,Z9"], '"Z9" is not a cell of a 7x7 board.'),
        (["--atoms", "A1 1H"], '"1H" names a cell twice.'),
    ],
)
def test_a_wrong_argument_is_named_in_one_line(arguments: list[str], why: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr == f"pbmserv blackbox rays: {why}\n"


@rows(
    ("line", "why"),
    [
        ("what?", "not a JSON object"),
        ("[1]", "not a JSON object"),
        ('{"w":7,"atoms":[]}', '"w" and "h" must be whole numbers'),
        ('{"w":true,"h":7,"atoms":[]}', '"w" and "h" must be whole numbers'),
        ('{"w":7,"h":7,"atoms":"A1"}', '"atoms" must be a list of cells like "G1"'),
        ('{"w":7,"h":7,"atoms":[1]}', '"atoms" must be a list of cells like "G1"'),
        ('{"w":7,"h":99,"atoms":[]}', "size 7x99: sides of 2 cells or more, together 52 at most"),
    ],
)
def test_a_wrong_line_is_named_after_the_answers_before_it(line: str, why: str) -> None:
    result = run(typed='{"w":2,"h":2,"atoms":["A1"]}\n' + line + "\n")
    assert result.exit_code == 2
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr == f"pbmserv blackbox rays: line 2: {why}\n"


def test_bytes_that_are_no_text_are_named_too() -> None:
    result = run(typed=b"\xff\xfe{\n")
    assert result.exit_code == 2
    assert result.stderr == "pbmserv blackbox rays: line 1: not a JSON object\n"
