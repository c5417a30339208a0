"""Draws boards in SVG and PNG.

A game returns shapes and their roles; the palette of pages and letters has the colours.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from io import BytesIO
from typing import Any, NamedTuple

from jinja2 import Environment
from markupsafe import Markup

from pbmserv.engine.types import Drawing, Shape

SIDE, TALL = 1_200, 630
"""Pixels of a preview picture (Open Graph: 1.91 to 1)."""
MARGIN = 24
MOST_DRAWN = 4
"""Most drawings in a preview; more would be too small."""


class Colours(NamedTuple):
    """Colours of a shape by their names in the palette; "" for none.

    Attributes:
        fill: colour of its inside.
        line: colour of its line.
        thickness: thickness of its line.
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
    ("diamond", "mark"): Colours("ink"),
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
    **{(kind, role): Colours(role) for kind in ("diamond", "word", "name") for role in _USED},
    **{("line", role): Colours("", role, 2.5) for role in _USED},
}
_OTHER = Colours("", "ink")
_NEW = 2.0
"""Factor by which the newest line is thicker."""


class Painter:
    """Draws pictures in the colours of the palette.

    Args:
        templates: the environment with the palette and the template of drawings.
    """

    def __init__(self, templates: Environment) -> None:
        self._template = templates.get_template("web/drawing.svg.j2")
        self._palette: Mapping[str, str] = vars(templates.get_template("palette.j2").module)[
            "light"
        ]

    def svg_for_page(self, drawing: Drawing, label: str) -> Markup:
        """Return a drawing for a page, whose stylesheet has the colours, light and dark."""
        return self._svg_of([drawing], label, _css_variable, is_file=False)

    def svg_file(self, drawings: Sequence[Drawing], label: str) -> bytes:
        """Return drawings beside each other, as an SVG file."""
        return self._svg_of(drawings, label, self._palette.__getitem__, is_file=True).encode()

    def _svg_of(
        self,
        drawings: Sequence[Drawing],
        label: str,
        colour: Callable[[str], str],
        *,
        is_file: bool,
    ) -> Markup:
        width = sum(drawing.width for drawing in drawings) + MARGIN * (len(drawings) - 1)
        parts = [
            {
                "left": sum(drawing.width + MARGIN for drawing in drawings[:n]),
                "shapes": [(shape, _colours(shape)) for shape in drawing.shapes],
            }
            for n, drawing in enumerate(drawings)
        ]
        values = {
            "width": width,
            "height": max(drawing.height for drawing in drawings),
            "parts": parts,
            "label": label,
            "colour": colour,
            "is_file": is_file,
        }
        return Markup(self._template.render(values))  # noqa: S704 - its template escapes

    def png(self, drawings: Sequence[Drawing], titles: Sequence[str], headline: str) -> bytes:
        """Return drawings as a PNG for a preview, with a headline and a title for each."""
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
        colours = _colours(shape)
        fill = self._palette[colours.fill] if colours.fill else None
        line = self._palette[colours.line] if colours.line else None
        thickness = max(1, round(colours.thickness * scale))
        at = [n * scale + (left, top)[place % 2] for place, n in enumerate(shape.at)]
        if shape.kind == "line":
            pen.line(at, line, thickness, joint="curve")
        elif shape.kind == "box":
            width, height = shape.at[2] * scale, shape.at[3] * scale
            pen.rectangle((at[0], at[1], at[0] + width, at[1] + height), fill, line, thickness)
        elif shape.kind == "dot":
            radius = shape.at[2] * scale
            pen.ellipse((at[0] - radius, at[1] - radius, at[0] + radius, at[1] + radius), fill)
        elif shape.kind == "diamond":
            radius = shape.at[2] * scale
            x, y = at[0], at[1]
            pen.polygon([(x, y - radius), (x + radius, y), (x, y + radius), (x - radius, y)], fill)
        else:
            font = _font(round((11 if shape.kind == "name" else 17) * scale))
            pen.text((at[0], at[1]), shape.text, fill, font, anchor="mm")


def _css_variable(colour: str) -> str:
    return f"var(--{colour.replace('_', '-')})"


def _colours(shape: Shape) -> Colours:
    colours = COLOURS.get((shape.kind, shape.role), _OTHER)
    return colours._replace(thickness=colours.thickness * _NEW) if shape.is_new else colours


@cache
def _font(size: int) -> Any:
    """Return Pillow's own font, so that every machine draws the same."""
    from PIL import ImageFont

    return ImageFont.load_default(max(6, size))


def _fitting(words: str, size: int, room: float = SIDE - 4 * MARGIN) -> str:
    """Return as much of the words as there is room for, in characters that the font has."""
    words = words.encode("latin-1", "replace").decode("latin-1")
    if _font(size).getlength(words) <= room:
        return words
    while words and _font(size).getlength(words + "...") > room:
        words = words[:-1]
    return words.rstrip() + "..."
