"""Runs a server, or some of its stages, from the start to the end."""

from __future__ import annotations

import gc
import logging
import signal
import sys
from collections.abc import Sequence
from dataclasses import replace

from pbmserv import log
from pbmserv.config.loading import Loaded, public_url
from pbmserv.config.settings import Settings
from pbmserv.files import open_to_others
from pbmserv.monitoring import pulse
from pbmserv.net import listening
from pbmserv.net.ports import Bound, bind
from pbmserv.outbound.dkim import load as load_key
from pbmserv.stages import preflight
from pbmserv.stages.base import Base
from pbmserv.stages.greeting import greeting
from pbmserv.stages.link import meeting_place
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
        print(f"pbmserv: {name} is no setting and is not used", file=sys.stderr)  # noqa: T201
    bound = bind(_only(loaded.settings, stages))
    try:
        with preflight.places(loaded, stages):
            url = loaded.settings.database
            for warning in open_to_others(loaded.settings.data_dir, url, mail_url(url)):
                print(f"pbmserv: {warning}", file=sys.stderr)  # noqa: T201
            for named in loaded.settings.dkim_keys:
                load_key(named)  # what is wrong is told once, and not by a stage again and again
            _must_be_usable(loaded.settings)
            _collect_rarely()
            settings = _with_ports(loaded.settings, bound)

            def ready() -> None:
                sys.stdout.write(greeting(settings) + "ready\n")
                sys.stdout.flush()
                pulse.tell(pulse.READY)

            with meeting_place(settings.data_dir, stages) as folder:
                code = Supervisor(settings, bound, folder, stages, ready).run()
            pulse.tell(pulse.STOPPING)
            return code
    finally:
        bound.close()
        logging.shutdown()


def _must_be_usable(settings: Settings) -> None:
    """Have databases and keys there before anybody forks, and find out whether rows are taken."""
    base = Base(settings)
    try:
        with base.game.writing.begin() as connection:
            health.write(connection, base.clock.now())
    finally:
        base.close()


def _only(settings: Settings, stages: Sequence[str]) -> Settings:
    """The settings without the listeners of stages that run elsewhere."""
    if "door" not in stages:
        settings = replace(settings, smtp=None, smtps=None, lmtp=None)
    return settings if "web" in stages else replace(settings, web=None, metrics=None)


def _collect_rarely() -> None:
    """Look for cyclic garbage less often: mails leave hardly any, and the remembered positions
    are many objects to look through in vain (8 % of the time that a move takes)."""
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)


def _with_ports(settings: Settings, bound: Bound) -> Settings:
    """The settings with the ports that were really bound."""
    smtp = listening.port_of(bound.smtp, settings.smtp)
    smtps = listening.port_of(bound.smtps, settings.smtps)
    web = listening.port_of(bound.web, settings.web)
    web_url = settings.web_url
    if web is not None and not web_url:
        web_url = public_url(web)
    return replace(settings, smtp=smtp, smtps=smtps, web=web, web_url=web_url)
