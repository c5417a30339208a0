"""The operators' token: a secret in a file, by which they sign in."""

from __future__ import annotations

import secrets
import stat
from pathlib import Path

from pbmserv.errors import ConfigError
from pbmserv.files import read_octets

SHORTEST_TOKEN = 32
LONGEST_TOKEN = 500
"""Characters. `new_token` makes 43."""
FEWEST_DIFFERENT = 8
"""Different characters in a token; fewer look like a token that was typed by hand."""


def new_token() -> str:
    """Return a random token."""
    return secrets.token_urlsafe(32)


def read_token(path: Path) -> str:
    """Return the token in a file.

    Raises:
        ConfigError: the file holds no token, or one that could be guessed, or every user of this
            machine can read it.
    """
    where = f"PBMSERV_OPERATOR_TOKEN: {path}"
    make = f"make one with `pbmserv operator-token {path}`"
    try:
        mode = path.stat().st_mode
        text = read_octets(path, 4 * LONGEST_TOKEN).decode().strip()
    except UnicodeDecodeError:
        raise ConfigError(f"{where} holds no token; {make}") from None
    except OSError as error:
        raise ConfigError(f"{where}: {error.strerror or error}; {make}") from None
    if stat.S_IMODE(mode) & 0o007:
        raise ConfigError(f"{where} can be read by everybody; run `chmod 600 {path}`")
    is_word = text.isascii() and text.isprintable() and " " not in text
    if not is_word or not SHORTEST_TOKEN <= len(text) <= LONGEST_TOKEN:
        raise ConfigError(
            f"{where} holds no token of {SHORTEST_TOKEN} characters or more; remove it, and {make}"
        )
    if len(set(text)) < FEWEST_DIFFERENT:
        raise ConfigError(f"{where} holds a token that can be guessed; remove it, and {make}")
    return text
