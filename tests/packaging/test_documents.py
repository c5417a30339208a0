"""Documents name files, headings and code that exist."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from rows import rows

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = ("", "benchmarks", "deploy", "docs", "docs/decisions", "docs/operating", "tests")
CODE = ("", "pbmserv")
"""Folders at which the paths in decisions begin."""


def documents() -> Iterator[Path]:
    for folder in FOLDERS:
        yield from sorted((ROOT / folder).glob("*.md"))
    yield from sorted((ROOT / "tests").glob("*/README.md"))


def without_blocks(document: Path) -> str:
    """Return the text of a document without its blocks of code."""
    return re.sub(r"^ *```.*?^ *```$", "", document.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(document: Path) -> set[str]:
    """Return the anchors of the headings, as GitHub makes them."""
    return {
        re.sub(r"[^\w -]", "", heading.lower()).strip().replace(" ", "-")
        for heading in re.findall(r"^#+ (.+)$", without_blocks(document), re.MULTILINE)
    }


@rows("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_each_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    broken = []
    for link in re.findall(r"\]\(([^)\s]+)\)", without_blocks(document)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = document.parent / name if name else document
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


DECISIONS = sorted((ROOT / "docs" / "decisions").glob("0*.md"))


@rows("decision", DECISIONS, ids=lambda path: path.stem)
def test_each_file_that_a_decision_names_exists(decision: Path) -> None:
    _, _, where = decision.read_text().partition("\n## Where\n")
    names = re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", where)
    missing = [name for name in names if not any((ROOT / top / name).exists() for top in CODE)]
    assert missing == []


def test_each_file_of_the_mail_specification_exists() -> None:
    text = (ROOT / "docs" / "mail.md").read_text()
    names = re.findall(r"`((?:[\w.*-]+/)+[\w.*-]*)`", text)
    assert len(names) > 100
    tops = ("pbmserv", "tests", "")
    assert [
        n for n in names if not any(list(ROOT.glob(f"{top}/{n}".strip("/"))) for top in tops)
    ] == []


def test_the_index_lists_each_decision() -> None:
    index = (ROOT / "docs" / "decisions" / "README.md").read_text()
    assert [page.name for page in DECISIONS if f"({page.name})" not in index] == []


def test_code_refers_to_decisions_that_exist() -> None:
    numbers = {page.name[:4] for page in DECISIONS}
    wrong = [
        f"{path.relative_to(ROOT)}: {number}"
        for folder in ("pbmserv", "templates", "tests", "benchmarks", "generators", "migrations")
        for path in (ROOT / folder).rglob("*.*")
        if path.suffix in {".py", ".j2", ".css", ".toml"}
        for number in re.findall(r"docs/decisions/(\d{4})", path.read_text())
        if number not in numbers
    ]
    assert wrong == []


def test_the_game_in_the_guide_for_authors_is_the_one_that_ships() -> None:
    game = (ROOT / "pbmserv/games/tictactoe.py").read_text()
    assert game in (ROOT / "docs/games.md").read_text()
