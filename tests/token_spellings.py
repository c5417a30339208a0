"""Spellings of a token by programs and people: each entry turns a token into lines."""

from __future__ import annotations

import base64
import quopri
import textwrap
from collections.abc import Callable, Mapping
from urllib.parse import quote

LINK = "http://games.example/b/"


def percent(text: str) -> str:
    """Percent-encode every character."""
    return "".join(f"%{ord(sign):02X}" for sign in text)


def wrapped(token: str) -> str:
    """Return the link to a token inside a link of a scanner, as Safe Links writes it."""
    inside = quote(f"{LINK}{token}", safe="")
    return f"https://eur01.safelinks.protection.example/?url={inside}&data=05%7C01%7C&reserved=0"


SPELLINGS: Mapping[str, Callable[[str], str]] = {
    "bare": lambda token: token,
    "in a sentence": lambda token: f"Look at my board: {LINK}{token}.",
    "own page": lambda token: f"http://games.example/mine/{token}?done=prefs",
    "address": lambda token: f"pbmserv+{token}@games.example",
    "address in capitals": lambda token: f"PBMSERV+{token.upper()}@GAMES.EXAMPLE",
    "in words": lambda token: f"pbmserv plus {token} at games dot example",
    "Safe Links": wrapped,
    "wrapped twice": lambda token: f"https://www.example/url?q={quote(wrapped(token), safe='')}",
    "encoded": percent,
    "encoded three times": lambda token: quote(quote(percent(token))),
    "encoded path": lambda token: f"games.example%2Fb%2F{token}",
    "entities": lambda token: "".join(f"&#{ord(sign)};" for sign in token),
    "entities in hexadecimal": lambda token: "".join(f"&#x{ord(sign):X};" for sign in token),
    "entities, encoded": lambda token: quote("".join(f"&#{ord(sign)};" for sign in token)),
    "soft hyphens": "&shy;".join,
    "full width": lambda token: "".join(chr(ord(sign) + 0xFEE0) for sign in token),
    "mathematical": lambda token: "".join(
        chr(0x1D41A + ord(sign) - 97) if sign.isalpha() else sign for sign in token
    ),
    "zero width": "\u200b".join,
    "joiners": "\u2060".join,
    "blanks": " ".join,
    "hyphens": lambda token: "-".join(textwrap.wrap(token, 5)),
    "broken lines": lambda token: "\n".join(textwrap.wrap(f"{LINK}{token}", 20)),
    "broken and marked": lambda token: "\n| ".join(textwrap.wrap(token, 9)),
    "flowed": lambda token: " \n".join(textwrap.wrap(f"{LINK}{token}", 31)),
    "quoted-printable": lambda token: quopri.encodestring(
        f"Look here, it is my board: url=3D{LINK}{token}&x=\u00e9".encode()
    ).decode(),
    "soft breaks": lambda token: "=\n".join(textwrap.wrap(token, 7)),
    "octets in quoted-printable": lambda token: "".join(f"={ord(sign):02X}" for sign in token),
    "escapes": lambda token: "".join(f"\\u{ord(sign):04x}" for sign in token),
    "base64": lambda token: base64.b64encode(f"{LINK}{token}".encode()).decode(),
    "base64 in lines": lambda token: (
        base64.encodebytes(f"Look at my board, it is here: {LINK}{token}".encode()).decode().strip()
    ),
    "base64 for links": lambda token: (
        f"https://track.example/c/{base64.urlsafe_b64encode((LINK + token).encode()).decode()}"
    ),
    "encoded and broken": lambda token: percent(token).replace("%6", "%\n6", 3),
    "Turkish": lambda token: f"{LINK}{token.upper().replace('I', chr(0x131))}",
}
"""Functions by the name of the spelling."""
