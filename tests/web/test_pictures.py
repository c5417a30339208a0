"""Every page has its picture: the table of `make screenshots` against the routes there are."""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

from asgi_client import site_of
from indoors import indoors
from photographed_pages import NO_PAGES, PAGES
from starlette.applications import Starlette
from starlette.routing import Route

from pbmserv.config.listen import Listen
from pbmserv.mail.key_ring import KeyRing
from pbmserv.views.environment import environment
from pbmserv.web.mailbox.application import build_mailbox
from pbmserv.web.operators.application import build_operators


def paths(site: Starlette) -> set[str]:
    return {route.path for route in site.routes if isinstance(route, Route)}


def test_every_page_has_its_picture(tmp_path: Path) -> None:
    domain = SimpleNamespace(ring=KeyRing({1: b"a key"}), address="pbmserv@localhost")
    local = build_mailbox(f"maildir:{tmp_path}", Listen("127.0.0.1", 1), domain, environment())
    mailbox = {re.sub(r"^/[a-z2-7]{32}/", "/{mailbox}/", path) for path in paths(local)}
    with indoors(tmp_path) as house:
        side = house.server.web_stage.operators
        desk = build_operators(side, tmp_path, "", house.server.clock, environment(), ())
        operators = {f"/{{operators}}{path}" for path in paths(desk)}
        all_paths = paths(site_of(house.server)) | mailbox | operators
    drawn = {
        path for path in all_paths if not path.endswith(NO_PAGES) and not path.startswith("/api")
    }
    assert drawn == PAGES.keys() - {"no such page"}
    names = [name for some in PAGES.values() for name in some]
    assert len(set(names)) == len(names)
