"""Dates of things to renew: the end of the certificate, and the newest copy of the database."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

SOON = timedelta(days=21)
"""A certificate that ends within this time is reported: automatic renewal has failed by then."""
_LOOK_EVERY = timedelta(hours=1)
_WARN_EVERY = timedelta(days=1)

_log = logging.getLogger("pbmserv.receive")


def certificate_end(path: Path) -> datetime:
    """Return when the first certificate of a PEM file ends, UTC.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not a PEM certificate.
    """
    from cryptography.x509 import load_pem_x509_certificate

    return load_pem_x509_certificate(path.read_bytes()).not_valid_after_utc


def last_backup_file(data_dir: Path) -> Path:
    """Return the file whose time is that of the newest copy by ``db backup``."""
    return data_dir / "last-backup"


def last_backup(data_dir: Path) -> datetime | None:
    """Return when the newest copy was made, UTC; `None` if none was made on this machine."""
    try:
        return datetime.fromtimestamp(last_backup_file(data_dir).stat().st_mtime, UTC)
    except OSError:
        return None


class CertificateWatch:
    """Reads once an hour when a certificate ends, and warns once a day if that is soon.

    Attributes:
        ends: end of the certificate; `None` if there is none, or if it cannot be read.
    """

    def __init__(self, path: Path | None, now: Callable[[], datetime]) -> None:
        self._path = path
        self._now = now
        self._look_at: datetime | None = None
        self._warn_at: datetime | None = None
        self.ends: datetime | None = None

    def look(self) -> None:
        """Read the certificate and warn, if it is time for that."""
        now = self._now()
        if self._path is None or (self._look_at is not None and now < self._look_at):
            return
        self._look_at = now + _LOOK_EVERY
        try:
            self.ends = certificate_end(self._path)
        except (OSError, ValueError):  # OpenSSL accepts more than the library
            self.ends = None
            return
        left = self.ends - now
        if left < SOON and (self._warn_at is None or now >= self._warn_at):
            self._warn_at = now + _WARN_EVERY
            facts = {"file": str(self._path), "good_until": f"{self.ends:%Y-%m-%dT%H:%MZ}"}
            if left > timedelta():
                _log.warning("the certificate ends soon", extra=facts)
            else:
                _log.error("the certificate has ended; mail programs refuse it", extra=facts)
