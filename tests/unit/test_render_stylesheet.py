"""Styles that are written into the tags of a template."""

from __future__ import annotations

import re

from pbmserv.views.environment import templates_root


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
