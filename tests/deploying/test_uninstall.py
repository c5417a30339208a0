"""docs/operating/uninstall.md removes each file that the other pages install."""

from __future__ import annotations

import re
import shlex
from fnmatch import fnmatch
from pathlib import Path

from test_deploy_readme import PAGES, Page

_OURS = re.compile(r"/(?:etc|opt|usr/local|var)/[\w./@-]*pbmserv[\w./@-]*")
KEPT = "/var/backups/pbmserv"


def is_removed(path: str, removed: list[str]) -> bool:
    """Return whether the file or a folder above it is removed."""
    places = [path, *map(str, Path(path).parents)]
    return any(fnmatch(place, pattern) for place in places for pattern in removed)


def test_nothing_that_a_page_installs_is_left() -> None:
    (uninstall,) = (page for page in PAGES if page.path.name == "uninstall.md")
    removed = [
        word
        for block in uninstall.blocks()
        for line in block.body.splitlines()
        if line.startswith("rm ")
        for word in shlex.split(line)[2:]
    ]
    others = [page for page in PAGES if page is not uninstall]
    left = {path for page in others for path in paths_in(page) if not is_removed(path, removed)}
    assert {path for path in left if not path.startswith(KEPT)} == set()


def paths_in(page: Page) -> list[str]:
    """Return the paths with our name that a page writes about, and those of installed files."""
    paths = _OURS.findall(page.text)
    for block in page.blocks():
        for line in block.body.splitlines():
            words = line.split()
            if words[:1] == ["install"] and words[-1].endswith("/"):
                names = [Path(word).name for word in words if word.startswith("deploy/")]
                paths += [words[-1] + name for name in names]
    return [path.rstrip("./") for path in paths]
