"""Puzzles on paper: the content of the pages, which fit on both sizes of paper."""

from __future__ import annotations

import os
import pty
import re
import zlib
from pathlib import Path

import pytest
from fork_server import Forked
from rows import rows
from typer.testing import CliRunner, Result

from pbmserv.cli.blackbox import app

POINT = 25.4 / 72
MARGIN = 12.0
IDS = "\n".join(f"8x8/3-6#box {number}" for number in range(3))


def run(*arguments: str, typed: str = IDS) -> Result:
    return CliRunner().invoke(app, ["print", *arguments], input=typed)


def pages(*arguments: str, typed: str = IDS) -> list[str]:
    """Return the drawing commands of each page of a PDF."""
    result = run(*arguments, typed=typed)
    assert (result.exit_code, result.stderr) == (0, "")
    octets = result.stdout_bytes
    assert octets.startswith(b"%PDF-")
    assert octets.rstrip().endswith(b"%%EOF")
    drawn = [
        zlib.decompress(match[1]).decode("latin-1")
        for match in re.finditer(rb"/FlateDecode.*?stream\n(.*?)\nendstream", octets, re.DOTALL)
    ]
    assert len(drawn) == len(re.findall(rb"/Type /Page\b", octets))
    return drawn


def words(page: str) -> list[str]:
    return [text.replace("\\(", "(") for text in re.findall(r"\((.*?)\) Tj", page)]


def places(page: str) -> list[tuple[float, float]]:
    """Return the coordinates of all lines, rectangles and texts, in points from the bottom left."""
    number = r"(-?[0-9.]+)"
    matches = re.findall(rf"{number} {number} (?:m|l|Td)\b", page)
    return [(float(x), float(y)) for x, y in matches]


@pytest.mark.slow
def test_a_page_holds_as_many_as_it_says_and_solutions_come_behind() -> None:
    drawn = pages("1x2", "--with-solutions")
    assert len(drawn) == 4
    titles = [words(page)[0] for page in drawn]
    assert titles == ["Blackbox", "Blackbox", "Blackbox: solutions", "Blackbox: solutions"]
    for page, numbers in zip(drawn, [range(2), range(2, 3)] * 2, strict=True):
        shown = words(page)
        assert [word for word in shown if word.startswith("w8h8")] == [
            f"w8h8m3M6#box {number}" for number in numbers
        ]
        for label in ("A", "H", "I", "P", "1", "8", "9", "16"):
            assert shown.count(label) >= len(numbers)
    # Only atoms are round, so closed pages have fewer curves than opened ones.
    curves = [page.count(" c\n") for page in drawn]
    assert curves[0] < curves[2]
    assert curves[1] < curves[3]


@pytest.mark.slow
@rows(("paper", "layout"), [("a4", "1x1"), ("letter", "4x4")])
def test_all_of_it_prints_on_a4_and_on_letter(paper: str, layout: str) -> None:
    sizes = {"a4": (210.0, 297.0), "letter": (215.9, 279.4)}
    width, height = sizes[paper]
    other_width, other_height = sizes["letter" if paper == "a4" else "a4"]
    for page in pages(layout, "--paper", paper, "--scale", "3", "--with-solutions"):
        for x, y in places(page):
            # The same drawing in the middle of the other paper.
            for left in (x * POINT, x * POINT + (other_width - width) / 2):
                assert MARGIN - 0.5 <= left <= min(width, other_width) - MARGIN + 6.5
            for up in (y * POINT, y * POINT + (other_height - height) / 2):
                assert MARGIN <= up <= max(height, other_height) - MARGIN


def test_scale_makes_puzzles_smaller_and_larger() -> None:
    def span(scale: str) -> float:
        (page,) = pages("1x1", "--scale", scale, typed="8x8/5#a")
        first, last = (re.findall(rf"([0-9.]+) [0-9.]+ Td \({label}\)", page) for label in "AH")
        return (float(last[0]) - float(first[0])) * POINT

    assert pytest.approx(span("0.5"), abs=0.3) == 7 * 4
    assert pytest.approx(span("1"), abs=0.3) == 7 * 8
    assert pytest.approx(span("2"), abs=0.3) == 7 * 16
    assert span("9") < 186


@rows(
    ("arguments", "typed", "message"),
    [
        (["2"], IDS, '"2" is not a layout; write one from 1x1 to 10x10'),
        (["0x3"], IDS, '"0x3" is not a layout'),
        (["11x1"], IDS, '"11x1" is not a layout'),
        (["2x3"], "", "there are no game IDs."),
        (["2x3"], "8x8/5#a\nhello", 'line 2: "hello" is not a game ID.'),
        (["9x9"], "26x26/60#a", "26x26 boxes are too small to read with 9x9 on a page"),
        (["1x1", "--scale", "0.2"], "8x8/5#a", "at --scale 0.2 a 8x8 box is too small"),
        (["1x1", "--title", "\u65e5"], "8x8/5#a", "--title can only have Latin letters"),
    ],
)
def test_boxes_that_cannot_be_printed_are_named(
    arguments: list[str], typed: str, message: str
) -> None:
    result = run(*arguments, typed=typed)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_file_can_be_named(tmp_path: Path) -> None:
    assert run("1x1", "--output", str(tmp_path / "boxes.pdf")).stdout == ""
    assert (tmp_path / "boxes.pdf").read_bytes().startswith(b"%PDF-")
    missing = run("1x1", "--output", str(tmp_path / "no" / "boxes.pdf"))
    assert missing.exit_code == 1
    assert "No such file or directory" in missing.stderr


@pytest.mark.slow
def test_no_pdf_is_written_to_a_terminal(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    errors = tmp_path / "errors"
    with errors.open("w") as stderr:
        command = ["blackbox", "print", "1x1", "8x8/5#a"]
        assert Forked(command, os.environ, theirs, stderr.fileno()).wait(60) == 2
    os.close(theirs)
    os.close(ours)
    assert "a terminal cannot show a PDF" in errors.read_text()
