"""The certificate of encrypted mail sessions, which is read again when its files change."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

from pbmserv.errors import ConfigError
from pbmserv.files import read_octets
from pbmserv.monitoring.upkeep import certificate_end

log = logging.getLogger("pbmserv.receive")


class Certificate:
    """A certificate chain and its key in PEM files, read again when the files change.

    Args:
        chain: our certificate first, then the intermediate ones.
        key: the private key, without a passphrase.

    Raises:
        ConfigError: the files cannot be used; the text says which and why.
    """

    def __init__(self, chain: Path, key: Path) -> None:
        self._chain = chain
        self._key = key
        self._seen = self._stamps()
        self._context = self._new_context()

    def context(self) -> ssl.SSLContext:
        """Return the context for a new handshake: always the same object, renewed in place.

        If changed files cannot be used, that is logged and the old certificate stays.
        """
        if self._stamps() != self._seen:
            self.reload("change")
        return self._context

    def reload(self, occasion: str) -> None:
        """Read the files, in the thread of the handshakes, and log the result.

        Args:
            occasion: why they are read again, for the log.
        """
        self._seen = self._stamps()
        facts = {"asked": occasion, "stage": "door"}  # only the door has sessions
        try:
            self._new_context()  # fails before a mismatched pair could replace the one in use
            self._load(self._context)
        except ConfigError as error:
            facts["why"] = str(error)
            log.error("the certificate is not renewed, the one before stays", extra=facts)
        else:
            facts |= {"file": str(self._chain), "good_until": _good_until(self._chain)}
            log.info("the certificate was read again", extra=facts)

    def _new_context(self) -> ssl.SSLContext:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)  # TLS 1.2 and later
        self._load(context)
        return context

    def _load(self, context: ssl.SSLContext) -> None:
        for setting, path in (("PBMSERV_TLS_CERT", self._chain), ("PBMSERV_TLS_KEY", self._key)):
            try:
                read_octets(path)
            except OSError as error:
                raise ConfigError(f'{setting} = "{path}": {error.strerror or error}') from None
        passphrases: list[bytes] = []

        def passphrase() -> bytes:  # without it OpenSSL would ask on a terminal
            passphrases.append(b"-")
            return passphrases[-1]

        try:
            context.load_cert_chain(self._chain, self._key, password=passphrase)
        except (ssl.SSLError, OSError, ValueError) as error:
            if passphrases:
                raise ConfigError(
                    f'PBMSERV_TLS_KEY = "{self._key}": the key has a passphrase; write it without '
                    "one (openssl pkey -in KEY -out NEWKEY) and let only pbmserv read it"
                ) from None
            if getattr(error, "reason", "") == "KEY_VALUES_MISMATCH":
                wrong = "the key does not belong to this certificate"
            else:
                wrong = "no PEM certificate and key can be read from these files"
            raise ConfigError(
                f'PBMSERV_TLS_CERT = "{self._chain}", PBMSERV_TLS_KEY = "{self._key}": {wrong}'
            ) from None

    def _stamps(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(_file_stamp(path) for path in (self._chain, self._key))


def _good_until(chain: Path) -> str:
    """Return the time when our certificate expires; ``unknown`` if it cannot be read."""
    try:
        return f"{certificate_end(chain):%Y-%m-%dT%H:%MZ}"
    except (OSError, ValueError):  # OpenSSL accepts more than the library
        return "unknown"


_MISSING = (0, 0, 0)


def _file_stamp(path: Path) -> tuple[int, int, int]:
    """Return facts of a file that change when it is replaced."""
    try:
        status = path.stat()
    except OSError:
        return _MISSING
    return (status.st_mtime_ns, status.st_ino, status.st_size)
