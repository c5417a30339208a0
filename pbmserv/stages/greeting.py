"""What the server prints when it starts: where it listens, and what to type next."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from pbmserv import __version__
from pbmserv.config.loading import shown
from pbmserv.config.settings import Settings


def greeting(settings: Settings) -> str:
    """The start-up text. The commands in it work as they stand, from the same folder."""
    domain = settings.address.rpartition("@")[2]
    lines = [
        f"pbmserv {__version__}: play by mail",
        "",
        f"  mail in    {_listener('SMTP', settings.smtp)}",
    ]
    if settings.smtps is not None:
        lines.append(f"             {_listener('SMTP with TLS', settings.smtps)}")
    if settings.lmtp is not None:
        lines.append(f"             {_listener('LMTP', settings.lmtp)}")
    lines += [
        f"  mail out   {shown(settings, 'relay')}",
        f"  pages      {settings.web_url if settings.web else 'off'}",
        f"  database   {shown(settings, 'database')}",
        f"  address    {settings.address}",
        "",
    ]
    takes_players = settings.signup != "closed"
    if takes_players and settings.smtp is not None and settings.relay.startswith("maildir:"):
        alice, bob = f"alice@{domain}", f"bob@{domain}"
        run = program()
        lines += [
            "A first game, from a second terminal in this folder (paste it whole if you like):",
            "",
            f'  {run} send --from {alice} --subject "signup alice wonder-land"',
            f"  {run} read {alice}",
            f"  {run} send --from {alice} --reply yes",
            f'  {run} send --from {bob} --subject "signup bob the-builder"',
            f"  {run} send --from {bob} --reply yes",
            f'  {run} send --from {alice} --subject "blackbox challenge alice bob"',
            f"  {run} read {bob}",
            f'  {run} send --from {bob} --reply "b3,d3,8h,13n"',
            f'  {run} send --from {alice} --reply "a1,c4,e5,g2"',
            f"  {run} read {alice}",
            "",
            "From then on each of them reads and replies in turn.",
        ]
        if settings.signup == "open":
            lines = [line for line in lines if not line.endswith("--reply yes")]
    lines += ["Ctrl-C stops the server; nothing is lost.", ""]
    return "\n".join(lines) + "\n"


def program() -> str:
    """How this program can be started again: its name if that is found, else its path."""
    name = Path(sys.argv[0]).name
    if name != "pbmserv":
        return f"{_relative(Path(sys.executable))} -m pbmserv"
    found = shutil.which(name)
    if found and Path(found).resolve() == Path(sys.argv[0]).resolve():
        return name
    return _relative(Path(sys.argv[0]))


def _relative(path: Path) -> str:
    try:
        relative = os.path.relpath(path)
    except ValueError:  # another drive
        return str(path)
    return str(path) if relative.startswith("..") else relative


def _listener(kind: str, listen: object) -> str:
    return f"{kind} {listen}" if listen else f"{kind} off"
