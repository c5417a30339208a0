"""Facts about this server that its pages show."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pbmserv.engine.types import GameInfo
from pbmserv.mail.networks import Network


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """Facts about this server for its pages.

    Attributes:
        address: the address for commands.
        games: the games, in the order to show them.
        signup: ``"confirm"``, ``"open"`` or ``"closed"``, as in the settings.
        base: path under which a proxy shows these pages, without a slash at its end; "" for the
            root.
        origin: scheme and host of these pages for players, for absolute links.
        contact: URI of the person to tell about security problems; "" for none.
        bots: userids of the games' bots, by game.
        can_hide: whether a game can be set up by hand for another player at the same device.
        proxies: networks of the server's own proxies.
    """

    address: str
    games: tuple[GameInfo, ...]
    signup: str
    base: str
    origin: str = ""
    contact: str = ""
    bots: Mapping[str, Sequence[str]] = field(default_factory=dict)
    can_hide: bool = False
    proxies: Collection[Network] = ()

    @property
    def boxes(self) -> bool:
        """Whether a game has boxes for one player; see `GameInfo.boxes`."""
        return any(game.boxes for game in self.games)
