"""The text that a server prints when it is ready."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path

from pbmserv import __version__
from pbmserv.config.display import text_of
from pbmserv.config.listen import public_url
from pbmserv.config.settings import Settings
from pbmserv.stages.stage_names import STAGES


def greeting(settings: Settings, mailbox: str = "", stages: Sequence[str] = STAGES) -> str:
    """Return the text, whose commands work unchanged in the folder of the start.

    Args:
        settings: with the ports that were bound.
        mailbox: address of the mailbox's first page; ``""`` if there is none.
        stages: the stages that run in this server.
    """
    domain = settings.address.rpartition("@")[2]
    is_whole = set(stages) == set(STAGES)
    lines = [f"pbmserv {__version__}: play by mail", ""]
    if not is_whole:
        lines.append(f"  stages     {', '.join(stages)}")
    if "door" in stages:
        lines.append(f"  mail in    {_listener('SMTP', settings.smtp)}")
        if settings.smtps is not None:
            lines.append(f"             {_listener('SMTP with TLS', settings.smtps)}")
        if settings.lmtp is not None:
            lines.append(f"             {_listener('LMTP', settings.lmtp)}")
    if "post" in stages:
        lines.append(f"  mail out   {text_of(settings.relay)}")
    if "web" in stages:
        lines += _pages(settings, stages)
    lines += [
        f"  database   {text_of(settings.database)}",
        f"  address    {settings.address}",
        "",
    ]
    takes_players = is_whole and settings.signup != "closed"
    if mailbox:
        lines += [
            "Open this address in a browser, take two names, and play a first game:",
            "",
            f"  {mailbox}",
            "",
        ]
    elif takes_players and settings.smtp is not None and settings.relay.startswith("maildir:"):
        ada, ben = f"ada@{domain}", f"ben@{domain}"
        run = program()
        lines += [
            "A first game, from a second terminal in this folder (paste it whole if you like):",
            "",
            f'  {run} send --from {ada} --subject "signup ada wonder-land"',
            f"  {run} read {ada}",
            f"  {run} send --from {ada} --reply yes",
            f'  {run} send --from {ben} --subject "signup ben the-builder"',
            f"  {run} send --from {ben} --reply yes",
            f'  {run} send --from {ada} --subject "blackbox challenge ada ben"',
            f"  {run} read {ben}",
            f'  {run} send --from {ben} --reply "b3,d3,f1,e6"',
            f'  {run} send --from {ada} --reply "a1,c4,e5,g2"',
            f"  {run} read {ada}",
            "",
            "From then on each of them reads and replies in turn.",
        ]
        if settings.signup == "open":
            lines = [line for line in lines if not line.endswith("--reply yes")]
    lines += ["Ctrl-C stops the server; nothing is lost.", ""]
    return "\n".join(lines) + "\n"


def _pages(settings: Settings, stages: Sequence[str]) -> list[str]:
    lines = [f"  pages      {settings.web_url if settings.web else 'off'}"]
    if "door" not in stages:
        lines.append("  moves      need a door beside these pages: pbmserv serve --only door")
    return lines + _operators(settings)


def _operators(settings: Settings) -> list[str]:
    """Return the line with the address of the operators' pages, if there are any."""
    if settings.operator_pages is None:
        return []
    return [f"  operators  {settings.operator_url or public_url(settings.operator_pages)}/"]


def program() -> str:
    """Return the words that start this program again: its name if the shell finds it, else its
    path."""
    name = Path(sys.argv[0]).name
    if name != "pbmserv":
        return f"{_relative(Path(sys.executable))} -m pbmserv"
    path = shutil.which(name)
    if path and Path(path).resolve() == Path(sys.argv[0]).resolve():
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
