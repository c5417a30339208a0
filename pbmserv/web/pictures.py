"""Pictures: drawings of boards in SVG and PNG, and a rating's graph.

A game says what is drawn, and each thing's role; the palette of pages and letters has the colours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from pbmserv.engine.types import Drawing, Shape

SIDE, TALL = 1_200, 630
"""Pixels of a picture for a preview, as those who show them want it (Open Graph: 1.91 to 1)."""
MARGIN = 24

WIDTH, HEIGHT = 640, 220
LEFT, RIGHT, TOP, BOTTOM = 68, 16, 14, 30
"""Room around the line."""
STEPS = (10, 25, 50, 100, 200, 500, 1_000, 10_000, 1_000_000)
"""Of ratings, between two lines of the scale."""
FEWEST = 2
"""Changes that make a line."""


class Colours(NamedTuple):
    """Names in the palette; ``""`` = none.

    Attributes:
        fill, line: of a shape.
        thickness: of its line.
    """

    fill: str
    line: str = ""
    thickness: float = 1.0


_USED = ("hit", "turned", "passed", "right")
COLOURS: Mapping[tuple[str, str], Colours] = {
    ("box", "field"): Colours("card", "soft", 1.5),
    ("line", "rule"): Colours("", "line"),
    ("word", "label"): Colours("soft"),
    ("word", "mark"): Colours("ink"),
    ("box", "mark"): Colours("sand"),
    ("dot", "atom"): Colours("name"),
    ("box", "wood"): Colours("wood", "grain"),
    ("box", "shade"): Colours("shade", "grain"),
    ("box", "strong"): Colours("on_right", "line"),
    ("box", "new"): Colours("", "name", 2.5),
    ("line", "grain"): Colours("", "grain"),
    ("dot", "cell"): Colours("sand"),
    ("dot", "black"): Colours("stone"),
    ("dot", "white"): Colours("chalk"),
    ("dot", "first"): Colours("passed"),
    ("dot", "second"): Colours("hit"),
    ("word", "first"): Colours("passed"),
    ("word", "second"): Colours("hit"),
    ("word", "on-black"): Colours("chalk"),
    ("word", "on-white"): Colours("stone"),
    **{("box", role): Colours(f"on_{role}") for role in _USED},
    **{("word", role): Colours(role) for role in _USED},
    **{("line", role): Colours("", role, 2.5) for role in _USED},
}
_OTHER = Colours("", "ink")
_NEW = 2.0
"""How much thicker the line is that the last turn has drawn."""


class Ink:
    """Draws with one palette.

    Args:
        templates: has ``palette.j2`` and the template of drawings.
    """

    def __init__(self, templates: Environment) -> None:
        self._svg = templates.get_template("web/drawing.svg.j2")
        self._palette: Mapping[str, str] = vars(templates.get_template("palette.j2").module)[
            "light"
        ]

    def inside(self, drawing: Drawing, label: str) -> Markup:
        """A drawing in a page, in the page's colours, by day and by night."""
        return self._drawn([drawing], label, lambda name: f"var(--{name.replace('_', '-')})")

    def file(self, drawings: Sequence[Drawing], label: str) -> bytes:
        """Drawings beside each other, as a file."""
        return self._drawn(drawings, label, self._palette.__getitem__).encode()

    def _drawn(self, drawings: Sequence[Drawing], label: str, colour: Any) -> Markup:
        width = sum(one.width for one in drawings) + MARGIN * (len(drawings) - 1)
        parts = [
            {
                "left": sum(one.width + MARGIN for one in drawings[:n]),
                "shapes": [(shape, _colours(shape)) for shape in drawing.shapes],
            }
            for n, drawing in enumerate(drawings)
        ]
        values = {
            "width": width,
            "height": max(one.height for one in drawings),
            "parts": parts,
            "label": label,
            "colour": colour,
            "is_file": len(drawings) != 1 or colour == self._palette.__getitem__,
        }
        return Markup(self._svg.render(values))  # noqa: S704 - its template escapes

    def png(self, drawings: Sequence[Drawing], titles: Sequence[str], headline: str) -> bytes:
        """Drawings as a picture for a preview: what happened above, each with its title."""
        from PIL import Image, ImageDraw

        picture = Image.new("RGB", (SIDE, TALL), self._palette["paper"])
        pen = ImageDraw.Draw(picture)
        pen.text((MARGIN * 2, MARGIN), _fitting(headline, 34), self._palette["ink"], _font(34))
        shown = drawings[:MOST_DRAWN]
        top = 130
        room = (SIDE - MARGIN * (len(shown) + 1)) / len(shown)
        for n, drawing in enumerate(shown):
            scale = min(room / drawing.width, (TALL - top - MARGIN) / drawing.height)
            left = MARGIN + n * (room + MARGIN) + (room - drawing.width * scale) / 2
            title = _fitting(titles[n], 24, room)
            pen.text((left + scale * 20, top - 34), title, self._palette["soft"], _font(24))
            for shape in drawing.shapes:
                self._paint(pen, shape, left, top, scale)
        octets = BytesIO()
        # The median cut of Pillow's default and an optimized file take three times as long.
        few = picture.quantize(64, method=Image.Quantize.FASTOCTREE)
        few.save(octets, "PNG")
        return octets.getvalue()

    def _paint(self, pen: Any, shape: Shape, left: float, top: float, scale: float) -> None:
        told = _colours(shape)
        fill = self._palette[told.fill] if told.fill else None
        line = self._palette[told.line] if told.line else None
        thickness = max(1, round(told.thickness * scale))
        at = [n * scale + (left, top)[place % 2] for place, n in enumerate(shape.at)]
        if shape.kind == "line":
            pen.line(at, line, thickness, joint="curve")
        elif shape.kind == "box":
            width, height = shape.at[2] * scale, shape.at[3] * scale
            pen.rectangle((at[0], at[1], at[0] + width, at[1] + height), fill, line, thickness)
        elif shape.kind == "dot":
            radius = shape.at[2] * scale
            pen.ellipse((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), fill)
        else:
            pen.text((at[0], at[1]), shape.text, fill, _font(round(17 * scale)), anchor="mm")


MOST_DRAWN = 4
"""Boxes in one preview; those of a race with more players would be too small to be seen."""


def _colours(shape: Shape) -> Colours:
    told = COLOURS.get((shape.kind, shape.role), _OTHER)
    return told._replace(thickness=told.thickness * _NEW) if shape.is_new else told


@cache
def _font(size: int) -> Any:
    """Pillow's own font, so that every machine draws the same."""
    from PIL import ImageFont

    return ImageFont.load_default(max(6, size))


def _fitting(words: str, size: int, room: float = SIDE - 4 * MARGIN) -> str:
    """As much of the words as there is room for, in letters that the font has."""
    words = words.encode("latin-1", "replace").decode("latin-1")
    if _font(size).getlength(words) <= room:
        return words
    while words and _font(size).getlength(words + "...") > room:
        words = words[:-1]
    return words.rstrip() + "..."


@dataclass(frozen=True, slots=True)
class Graph:
    """A rating over its changes.

    Attributes:
        width, height: of the picture, in its own units.
        left: where the line begins.
        line: the points of the line, as SVG has them.
        dots: for each change its place, and what happened there.
        lines: heights with the rating that belongs there.
        first, last: the changes at both ends.
        low, high: the lowest and highest rating.
    """

    width: int
    height: int
    left: int
    line: str
    dots: Sequence[tuple[float, float, Mapping[str, Any]]]
    lines: Sequence[tuple[float, int]]
    first: Mapping[str, Any]
    last: Mapping[str, Any]
    low: int
    high: int


def rating_graph(curve: Sequence[Mapping[str, Any]]) -> Graph | None:
    """The graph of a rating's changes, oldest first; ``None``: too few for a line."""
    if len(curve) < FEWEST:
        return None
    shown = [int(one["shown"]) for one in curve]
    low, high = min(shown), max(shown)
    step = next(
        step for step in (10, 25, 50, 100, 200, 500, 1_000, 10_000) if high - low <= 4 * step
    )
    floor, ceiling = low // step * step, -(-high // step) * step
    ceiling += step * (floor == ceiling)
    across, up = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

    def height_of(rating: int) -> float:
        return round(TOP + up * (ceiling - rating) / (ceiling - floor), 1)

    places = [round(LEFT + across * n / (len(curve) - 1), 1) for n in range(len(curve))]
    heights = [height_of(rating) for rating in shown]
    return Graph(
        WIDTH,
        HEIGHT,
        LEFT,
        " ".join(f"{x},{y}" for x, y in zip(places, heights, strict=True)),
        list(zip(places, heights, curve, strict=True)),
        [(height_of(rating), rating) for rating in range(floor, ceiling + 1, step)],
        curve[0],
        curve[-1],
        low,
        high,
    )
