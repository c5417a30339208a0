"""Senders whose mail operators have blocked, in the memory of the door."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from pbmserv.mail.networks import Network, is_among, network_of
from pbmserv.store.blocked_senders import BlockedSender


class BlockedSenders:
    """The blocks, by kind. `replace` and `refusal` may be called in different threads."""

    def __init__(self) -> None:
        self._names: dict[str, datetime | None] = {}
        self._networks: dict[Network, datetime | None] = {}

    def replace(self, blocks: Iterable[BlockedSender]) -> None:
        """Use these blocks from now on."""
        names: dict[str, datetime | None] = {}
        networks: dict[Network, datetime | None] = {}
        for block in blocks:
            network = network_of(block.name)
            if network is None:
                names[block.name] = block.until
            else:
                networks[network] = block.until
        self._names, self._networks = names, networks

    @property
    def is_empty(self) -> bool:
        """Whether nobody is blocked."""
        return not self._names and not self._networks

    def refusal(self, address: str, client: str) -> str:
        """Return the SMTP reply to a blocked sender, ``""`` if the sender is not blocked.

        A blocked domain includes its subdomains.

        Args:
            address: of the sender, from the envelope or the From field.
            client: network address from which the mail comes; ``""`` if it is unknown.
        """
        names, networks = self._names, self._networks
        for name in _names_of(address.lower()) if names else ():
            if name in names:
                return _reply("you", names[name])
        for network, until in networks.items():
            if is_among(client, (network,)):
                return _reply("your network", until)
        return ""


def _names_of(address: str) -> Iterable[str]:
    """Yield an address, its domain, and the domains above."""
    domain = address.rpartition("@")[2]
    yield address
    while domain:
        yield domain
        domain = domain.partition(".")[2]


def _reply(sender: str, until: datetime | None) -> str:
    end = "" if until is None else f" until {until:%Y-%m-%d}"
    return f"550 5.7.1 the operators of this server take no mail from {sender}{end}"
