"""A server, or some of its stages, from its start to its end."""

from __future__ import annotations

import gc
import json
import logging
import signal
import sys
from collections.abc import Sequence

from pbmserv import log
from pbmserv.clock import SystemClock
from pbmserv.config.listen import public_url
from pbmserv.config.settings import Loaded, Settings
from pbmserv.files import open_to_others
from pbmserv.mail.key_ring import mailbox_secret
from pbmserv.monitoring import service_manager
from pbmserv.net import listening
from pbmserv.outbound.dkim_keys import load_key
from pbmserv.stages import messages, preflight
from pbmserv.stages.base import Base
from pbmserv.stages.descriptors import raise_limit
from pbmserv.stages.greeting import greeting
from pbmserv.stages.ports import MAIL_PORTS, WEB_PORTS, Bound, bind
from pbmserv.stages.run_folders import held_run_folder
from pbmserv.stages.stage_names import STAGES
from pbmserv.stages.supervisor import Supervisor
from pbmserv.store.core.database import mail_url
from pbmserv.store.operators import health
from pbmserv.views import overrides
from pbmserv.views.game_templates import drop_broken_templates


def serve(loaded: Loaded, stages: Sequence[str] = STAGES) -> int:
    """Run *stages* until SIGTERM or SIGINT.

    SIGHUP makes them read keys and certificates again. It has no effect before they are ready, and
    while they end.

    Returns:
        The exit code of this process.
    """
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    log.configure(loaded.settings.log_level, loaded.settings.log_format, forks=True)
    for warning in loaded.warnings:
        log.notice(warning)
    preflight.refuse_wrong_clock(SystemClock())
    bound = bind(_for_stages(loaded.settings, stages))
    try:
        raise_limit(loaded.settings, bound)
        with preflight.held_folders(loaded, stages):
            url = loaded.settings.database
            for warning in open_to_others(loaded.settings.data_dir, url, mail_url(url)):
                log.notice(warning)
            for named in loaded.settings.dkim_keys:
                load_key(named)  # a fault is reported once, not by every restart of a stage
            settings = _with_ports(loaded.settings, bound)
            base, secret = _open(settings)
            gc.freeze()  # keeps the pages that the stages share from being copied
            own = _for_stages(settings, stages)
            mailbox = f"{public_url(own.mailbox)}/{secret}/" if own.mailbox else ""

            def ready() -> None:
                sys.stdout.write(_ready_lines(greeting(own, mailbox, stages)))
                sys.stdout.flush()
                service_manager.notify(service_manager.READY)

            with held_run_folder(settings.data_dir, stages) as folder:
                code = Supervisor(base, bound, folder, stages, ready).run()
            service_manager.notify(service_manager.STOPPING)
            return code
    finally:
        bound.close()
        logging.shutdown()


def _ready_lines(text: str) -> str:
    """Return what standard output says about a server that is ready: one line if the log is JSON,
    since both often end in the same file."""
    if not log.writes_json():
        return f"{text}ready\n"
    facts = {"name": "pbmserv.serve", "levelname": "INFO", "msg": "ready"}
    line = json.loads(log.JsonFormatter().format(logging.makeLogRecord(facts)))
    return json.dumps({**line, "greeting": text}) + "\n"


def _open(settings: Settings) -> tuple[Base, str]:
    """Open the databases, check that they can be written, and return the mailbox's secret, too.

    This happens before the fork, so that the stages share what it has loaded into memory.
    """
    if settings.templates is not None:
        for fault in overrides.use(settings.templates):
            log.notice(str(fault))
    base = Base(settings)
    for sentence in drop_broken_templates():
        log.notice(sentence)
    try:
        with base.game.writing.begin() as connection:
            health.probe_game_store(connection, base.clock.now())
        messages.build_readers()
        return base, mailbox_secret(base.mail_domain.ring)
    finally:
        base.disconnect()


def _for_stages(settings: Settings, stages: Sequence[str]) -> Settings:
    """Return the settings without the listeners of stages that run elsewhere, and without the
    certificate if only the door's user may be able to read it."""
    off: set[str] = set()
    if "door" not in stages:
        off |= {*MAIL_PORTS, "mailbox", "tls_cert"}
    if "web" not in stages:
        off |= {*WEB_PORTS}
    return settings.model_copy(update=dict.fromkeys(off))


def _with_ports(settings: Settings, bound: Bound) -> Settings:
    """Return the settings with the ports that were bound in place of port 0."""
    ports = {
        name: listening.port_of(port, getattr(settings, name))
        for name, port in bound.sockets.items()
    }
    web_url = settings.web_url or (public_url(ports["web"]) if "web" in ports else "")
    return settings.model_copy(update={**ports, "web_url": web_url})
