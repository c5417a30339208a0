"""The tables of all kinds of events."""

from __future__ import annotations

from collections.abc import Mapping

from pbmserv.service.events.kinds.cup import Cup, MonthlyCup
from pbmserv.service.events.kinds.duplicate import Duplicate
from pbmserv.service.events.kinds.final import Final
from pbmserv.service.events.kinds.kind import Kind
from pbmserv.service.events.kinds.league import League
from pbmserv.service.events.kinds.swiss import Swiss
from pbmserv.service.events.kinds.team import Team
from pbmserv.store.events.events import Event


def _by_word(*kinds: Kind) -> Mapping[str, Kind]:
    return {kind.word: kind for kind in kinds}


SERVER_KINDS = _by_word(League(), MonthlyCup(), Swiss(), Duplicate(), Team(), Final())
"""Kinds of the server's events."""

PLAYER_KINDS = _by_word(Cup(), Swiss(), Duplicate(), Team())
"""Kinds of events that a player can hold."""


def kind_of(event: Event) -> Kind:
    return (PLAYER_KINDS if event.is_own else SERVER_KINDS)[event.kind]
