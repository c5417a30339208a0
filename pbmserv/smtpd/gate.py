"""The first protocol of a connection: gives it a place, or refuses it.

The place is taken before a TLS handshake, so clients that never finish one are limited, too.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from ssl import SSLContext

from pbmserv.net.connection_limits import ConnectionLimits, Place, peer_of
from pbmserv.smtpd.refusal_log import note_refusal
from pbmserv.smtpd.session import SmtpSession, tls_fault

HANDSHAKE_S = 20.0
"""Seconds that a TLS handshake may take."""


class Gate(asyncio.Protocol):
    """Gives a connection a place, and hands it over to a session.

    Args:
        limits: the connections of the listener.
        make_session: makes the session of a client that has a place.
        tls_context: returns the context for TLS from the first octet (RFC 8314 section 3.3); `None`
            for a session that begins without TLS.
    """

    def __init__(
        self,
        limits: ConnectionLimits,
        make_session: Callable[[Place], SmtpSession],
        tls_context: Callable[[], SSLContext] | None = None,
    ) -> None:
        self._limits = limits
        self._make_session = make_session
        self._tls_context = tls_context
        self._place: Place | None = None
        self._handshake: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Take a place, or reply that there is none (RFC 5321 section 3.1 allows 421)."""
        assert isinstance(transport, asyncio.Transport)
        peer = peer_of(transport.get_extra_info("peername"))
        place = self._limits.enter(peer, transport.abort)
        if isinstance(place, str):
            if self._tls_context is None:  # with TLS no reply is possible before the handshake
                transport.write(f"421 4.3.2 {place}, please try again later\r\n".encode())
            transport.close()
            return
        self._place = place
        if self._tls_context is None:
            session = self._make_session(place)
            transport.set_protocol(session)
            session.connection_made(transport)
        else:
            handshake = self._encrypt(transport, self._make_session(place), peer)
            # Kept here, since the loop itself holds tasks only weakly.
            self._handshake = asyncio.get_running_loop().create_task(handshake)

    async def _encrypt(self, transport: asyncio.Transport, session: SmtpSession, peer: str) -> None:
        """Do the TLS handshake, then hand the connection over."""
        assert self._place is not None
        assert self._tls_context is not None
        try:
            encrypted = await asyncio.get_running_loop().start_tls(
                transport,
                session,
                self._tls_context(),
                server_side=True,
                ssl_handshake_timeout=HANDSHAKE_S,
            )
        except OSError as error:
            note_refusal("TLS failed", peer, f"TLS {tls_fault(error)}")
        else:
            if encrypted is not None and not encrypted.is_closing():
                session.connection_made(encrypted)
                return
        # The session frees the place, too, if asyncio tells it of the end of the connection.
        self._limits.leave(self._place)
