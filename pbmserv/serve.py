"""Runs a server, or some of its stages, from the start to the end, and says where it listens."""

from __future__ import annotations

import gc
import logging
import os
import shutil
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pbmserv import __version__, log
from pbmserv.clock import SystemClock
from pbmserv.config.settings import Loaded, Settings, public_url, shown, slip
from pbmserv.files import open_to_others
from pbmserv.letters import overrides
from pbmserv.letters.environment import keep_compiled
from pbmserv.mail.reply_address import mailbox_secret
from pbmserv.monitoring import metrics
from pbmserv.net import listening
from pbmserv.outbound.dkim import load as load_key
from pbmserv.stages import preflight
from pbmserv.stages.base import Base
from pbmserv.stages.link import meeting_place
from pbmserv.stages.listeners import Bound, bind, shares
from pbmserv.stages.supervisor import Supervisor
from pbmserv.store.core.database import mail_url
from pbmserv.store.operators import health


def serve(loaded: Loaded, stages: Sequence[str] = preflight.STAGES) -> int:
    """Run *stages* until SIGTERM or SIGINT; the process's exit code.

    SIGHUP makes them read keys and certificates again; before they are ready, and when they are
    about to end, there is nothing to read.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    log.configure(loaded.settings.log_level, loaded.settings.log_format, forks=True)
    for name in loaded.unread:
        print(f"pbmserv: {name} {slip(name)}", file=sys.stderr)  # noqa: T201
    preflight.must_be_set(SystemClock())
    bound = bind(_only(loaded.settings, stages))
    try:
        if few := shares(loaded.settings, bound).warning:
            logging.getLogger("pbmserv.ports").warning("%s", few)
        with preflight.places(loaded, stages):
            url = loaded.settings.database
            for warning in open_to_others(loaded.settings.data_dir, url, mail_url(url)):
                print(f"pbmserv: {warning}", file=sys.stderr)  # noqa: T201
            for named in loaded.settings.dkim_keys:
                load_key(named)  # what is wrong is told once, and not by a stage again and again
            settings = _with_ports(loaded.settings, bound)
            base, secret = _usable(settings)
            gc.freeze()  # keeps the pages that the stages share from being copied
            here = _only(settings, stages)
            mailbox = f"{public_url(here.mailbox)}/{secret}/" if here.mailbox else ""

            def ready() -> None:
                sys.stdout.write(greeting(here, mailbox, stages) + "ready\n")
                sys.stdout.flush()
                metrics.tell(metrics.READY)

            with meeting_place(settings.data_dir, stages) as folder:
                code = Supervisor(base, bound, folder, stages, ready).run()
            metrics.tell(metrics.STOPPING)
            return code
    finally:
        bound.close()
        logging.shutdown()


def _usable(settings: Settings) -> tuple[Base, str]:
    """What all stages stand on, made before anybody forks, so that it is in memory once, and found
    to take rows; and the mailbox's secret."""
    if settings.templates is not None:
        for fault in overrides.use(settings.templates):
            print(f"pbmserv: {fault}", file=sys.stderr)  # noqa: T201
    keep_compiled(settings.data_dir / "cache")
    base = Base(settings)
    try:
        with base.game.writing.begin() as connection:
            health.write(connection, base.clock.now())
        return base, mailbox_secret(base.mail_domain.ring)
    finally:
        base.let_go()


def _only(settings: Settings, stages: Sequence[str]) -> Settings:
    """The settings without the listeners of stages that run elsewhere, and the certificate that
    only the door's user may be able to read."""
    if "door" not in stages:
        settings = replace(settings, smtp=None, smtps=None, lmtp=None, mailbox=None, tls_cert=None)
    if "web" not in stages:
        settings = replace(settings, web=None, metrics=None, mailbox=None, operator_pages=None)
    return settings


def _with_ports(settings: Settings, bound: Bound) -> Settings:
    """The settings with the ports that were really bound."""
    smtp = listening.port_of(bound.smtp, settings.smtp)
    smtps = listening.port_of(bound.smtps, settings.smtps)
    web = listening.port_of(bound.web, settings.web)
    web_url = settings.web_url
    if web is not None and not web_url:
        web_url = public_url(web)
    mailbox = listening.port_of(bound.mailbox, settings.mailbox)
    operators = listening.port_of(bound.operators, settings.operator_pages)
    return replace(
        settings,
        smtp=smtp,
        smtps=smtps,
        web=web,
        web_url=web_url,
        mailbox=mailbox,
        operator_pages=operators,
    )


def greeting(
    settings: Settings, mailbox: str = "", stages: Sequence[str] = preflight.STAGES
) -> str:
    """The start-up text. The commands in it work as they stand, from the same folder.

    Args:
        mailbox: the address of the mailbox's first page; "" where there is none.
        stages: those that run here; what others do is theirs to say.
    """
    domain = settings.address.rpartition("@")[2]
    is_whole = set(stages) == set(preflight.STAGES)
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
        lines.append(f"  mail out   {shown(settings, 'relay')}")
    if "web" in stages:
        lines.append(f"  pages      {settings.web_url if settings.web else 'off'}")
        lines += _operators(settings)
    lines += [
        f"  database   {shown(settings, 'database')}",
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


def _operators(settings: Settings) -> list[str]:
    """Where operators' pages are, if they are anywhere."""
    if settings.operator_pages is None:
        return []
    return [f"  operators  {settings.operator_url or public_url(settings.operator_pages)}/"]


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
