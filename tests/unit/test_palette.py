"""Colours that letters, site and pages share: everybody can read them, and nobody writes others."""

from __future__ import annotations

import re
from typing import Any

from rows import rows

from pbmserv.views.environment import environment, templates_root

PALETTE: Any = environment().get_template("palette.j2").module
SCHEMES = {"light": PALETTE.light, "dark": PALETTE.dark}
BACKGROUNDS = ("card", "paper", "sand")


def luminance(colour: str) -> float:
    """By WCAG 2, of ``#rrggbb``."""
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(colour: str, other: str) -> float:
    bright, dark = sorted(map(luminance, (colour, other)), reverse=True)
    return (bright + 0.05) / (dark + 0.05)


@rows("scheme", SCHEMES)
def test_text_and_background_come_in_pairs_that_everybody_can_read(scheme: str) -> None:
    colours = SCHEMES[scheme]
    backs = {name.removeprefix("on_"): c for name, c in colours.items() if name.startswith("on_")}
    assert backs.keys() == {"button", "hit", "turned", "passed", "right"}
    pairs = [(colours[name], back) for name, back in backs.items()]
    pairs += [(colours[text], colours[back]) for text in ("ink", "soft", "press", "name")
              for back in BACKGROUNDS]  # fmt: skip
    for front, back in pairs:
        assert contrast(front, back) >= 4.5, (front, back, contrast(front, back))


def test_both_schemes_have_the_same_colours() -> None:
    assert SCHEMES["light"].keys() == SCHEMES["dark"].keys()
    for colour in (*PALETTE.light.values(), *PALETTE.dark.values()):
        assert re.fullmatch("#[0-9a-f]{6}", colour)


@rows(
    "name",
    [
        "letters/letter.css",
        "letters/head.css",
        "games/blackbox/letter.css",
        "games/blackbox/head.css",
        "web/style.css",
        "web/icon.svg",
    ],
)
def test_no_sheet_has_colours_of_its_own(name: str) -> None:
    source = (templates_root() / name).read_text()
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b|rgb", source) == []
    drawn = environment().get_template(name).render()
    colours = {*PALETTE.light.values(), *PALETTE.dark.values()}
    assert set(re.findall(r"#[0-9a-f]{6}", drawn)) <= colours
