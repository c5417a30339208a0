"""The certificate that mail sessions are encrypted with, and its renewal while we run."""

from __future__ import annotations

import logging
import ssl
from pathlib import Path

from pbmserv.errors import ConfigError
from pbmserv.regular import read_octets

log = logging.getLogger("pbmserv.receive")


class Certificate:
    """A certificate chain and its key in PEM files, read again when the files change.

    Args:
        chain: our certificate first, then those between it and the root.
        key: the private key; without a passphrase.

    Raises:
        ConfigError: the files cannot be used; says which and why.
    """

    def __init__(self, chain: Path, key: Path) -> None:
        self._chain = chain
        self._key = key
        self._seen = self._stamp()
        self._context = self._fresh()

    def context(self) -> ssl.SSLContext:
        """What a new session shakes hands with: always the same object, renewed in place.

        A renewal that cannot be used is logged, and the certificate before it stays.
        """
        stamp = self._stamp()
        if stamp != self._seen:
            self._seen = stamp
            try:
                self._fresh()  # a pair that does not fit must not touch the one in use
                self._load(self._context)
            except ConfigError as error:
                log.error("the renewed certificate is not used: %s", error)
            else:
                log.info("the certificate was read again")
        return self._context

    def _fresh(self) -> ssl.SSLContext:
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

        def passphrase() -> bytes:  # OpenSSL would ask on the terminal, and a service has none
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

    def _stamp(self) -> tuple[tuple[int, int, int], ...]:
        return tuple(_stamp(path) for path in (self._chain, self._key))


_MISSING = (0, 0, 0)


def _stamp(path: Path) -> tuple[int, int, int]:
    """What changes when a file is replaced."""
    try:
        found = path.stat()
    except OSError:
        return _MISSING
    return (found.st_mtime_ns, found.st_ino, found.st_size)
