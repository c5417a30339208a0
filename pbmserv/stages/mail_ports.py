"""The SMTP and LMTP ports of the door."""

from __future__ import annotations

from pbmserv.config.settings import Settings
from pbmserv.net.connection_limits import Bounds, ConnectionLimits
from pbmserv.service.operators.health import Slots
from pbmserv.smtpd.listener import Listener
from pbmserv.stages.base import Base
from pbmserv.stages.door import Door
from pbmserv.stages.ports import Bound, slots_of


class MailPorts:
    """The open mail ports, in one event loop."""

    def __init__(self, base: Base, door: Door, bound: Bound) -> None:
        self._limits = {name: _limits(name, base.settings) for name in bound.mail}
        self._listeners = [
            (
                Listener(
                    base.mail_domain,
                    door,
                    limits=self._limits[name],
                    lmtp=name == "lmtp",
                    certificate=bound.certificate,
                    tls_at_once=name == "smtps",
                ),
                port,
            )
            for name, port in bound.mail.items()
        ]

    async def open(self) -> None:
        """Begin to accept sessions."""
        for listener, port in self._listeners:
            await listener.start(port)

    async def close(self) -> None:
        """Finish the mails under way, and accept no more."""
        for listener, _ in self._listeners:
            await listener.stop()

    def slots(self) -> dict[str, Slots]:
        """Return the numbers of sessions by port."""
        return slots_of(self._limits)


def _limits(port: str, settings: Settings) -> ConnectionLimits:
    """Return the limits on the sessions of a mail port."""
    most = settings.sessions
    from_network = min(settings.sessions_network, most)
    return ConnectionLimits(port, Bounds(most, from_network, most), settings.mail_servers)
