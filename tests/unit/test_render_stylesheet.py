"""Styles that are written into the tags of a template."""

from __future__ import annotations

import re

from rows import rows

from pbmserv.views.environment import templates_root
from pbmserv.views.letter_styles import with_styles

SHEET = "p{margin:0} p.big{font-size:20px} td.hit{color:#123456} .kept{top:0}"
ADAPTIVE = "@media print{.kept{color:red}}"


def styled(source: str) -> str:
    return with_styles(source, SHEET, ADAPTIVE)


@rows(
    ("source", "expected"),
    [
        ("<p>x</p>", '<p style="margin:0">x</p>'),
        ('<p class="big">', '<p style="margin:0;font-size:20px">'),
        ('<td class="hit">#</td>', '<td style="color:#123456">#</td>'),
        ('<td class="hit kept">', '<td class="kept" style="top:0;color:#123456">'),
        ('<b class="unknown">', "<b>"),
        ("<b>a < b</b>", "<b>a < b</b>"),
        (
            '<p class="big" title="{{ f("x") }} > {{ y }}">',
            '<p title="{{ f("x") }} > {{ y }}" style="margin:0;font-size:20px">',
        ),
        (
            '<p{% if a > b %} id="q"{% endif %}>',
            '<p{% if a > b %} id="q"{% endif %} style="margin:0">',
        ),
        ("{% if a <b %}{{ a<p }}", "{% if a <b %}{{ a<p }}"),
    ],
)
def test_a_start_tag_gets_what_the_stylesheet_says_of_it(source: str, expected: str) -> None:
    assert styled(source) == expected


def test_templates_name_only_classes_that_their_stylesheet_knows() -> None:
    root = templates_root()
    letters = "".join(
        path.read_text()
        for path in root.glob("**/*.css")
        if path.name in {"letter.css", "head.css"}
    )
    pages = (root / "web/style.css").read_text()
    for path in [
        *root.glob("letters/*.j2"),
        *root.glob("letters/pieces/*.html.j2"),
        *root.glob("games/**/*.html.j2"),
    ]:
        is_page = path.name.endswith(("page.html.j2", "tutorial.html.j2"))
        sheet = pages if is_page else letters
        for classes in re.findall(r'class=("[^"]*"|[a-z]+)', path.read_text()):
            for word in classes.strip('"').split():
                assert re.search(rf"\.{word}\b", sheet), (path, word)
