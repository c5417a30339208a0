"""Runs one server process from its start to its end."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from dataclasses import replace
from typing import TextIO

from pbmserv import log
from pbmserv.config import Loaded, Settings, public_url
from pbmserv.files import open_to_others
from pbmserv.monitoring import pulse
from pbmserv.net import listening
from pbmserv.net.ports import Bound, bind
from pbmserv.stages import preflight
from pbmserv.stages.app import Server
from pbmserv.stages.greeting import greeting
from pbmserv.stages.listeners import Doors
from pbmserv.stages.reloading import Reload


def serve(loaded: Loaded) -> int:
    """Run a server until SIGTERM or SIGINT; the process's exit code.

    SIGHUP makes it read keys and certificates again; before it is ready, and when it is about to
    end, there is nothing to read.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    log.configure(loaded.settings.log_level, loaded.settings.log_format)
    for name in loaded.unread:
        print(f"pbmserv: {name} is no setting and is not used", file=sys.stderr)  # noqa: T201
    bound = bind(loaded.settings)
    try:
        with preflight.places(loaded):
            for warning in open_to_others(loaded.settings.data_dir, loaded.settings.database):
                print(f"pbmserv: {warning}", file=sys.stderr)  # noqa: T201
            server = Server(_with_ports(loaded.settings, bound))
            _collect_rarely()
            try:
                asyncio.run(_run(server, bound, sys.stdout))
            finally:
                # The event loop has left the default behind, which would end us here.
                signal.signal(signal.SIGHUP, signal.SIG_IGN)
                server.close()
    finally:
        bound.close()
    return 0


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


async def _run(server: Server, bound: Bound, out: TextIO) -> None:
    asked_to_stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    reload = Reload(
        server.database,
        server.mail_domain.ring,
        server.signer,
        server.settings.dkim_keys,
        bound.certificate,
    )
    for signum in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(signum, asked_to_stop.set)
    loop.add_signal_handler(signal.SIGHUP, reload.ask)
    reloading = asyncio.create_task(reload.run(), name="reloading")
    doors = Doors(server, bound)
    await doors.open()
    out.write(greeting(server.settings))
    out.write("ready\n")
    out.flush()
    pulse.tell(pulse.READY)
    await asked_to_stop.wait()
    pulse.tell(pulse.STOPPING)
    await doors.close()
    reloading.cancel()
