"""``pbmserv status``: shows waiting mails and letters, and whether a server runs."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from pbmserv.cli.open_databases import opened, opened_mail_store
from pbmserv.cli.output import say, table
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.service.operators.server_status import ServerStatus


def status(
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, for programs.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Show what waits and for how long, and whether a server runs.

    The numbers of a running server are at /metrics (PBMSERV_METRICS).

    Example: pbmserv status --json
    """
    from pbmserv import files
    from pbmserv.service.operators.server_status import queue_rows
    from pbmserv.stages.status import status_of
    from pbmserv.store.core import schema

    configuration = loaded(config)
    settings, now = configuration.settings, datetime.now(UTC)
    files.check_database_exists(settings.database, configuration.sources)
    with opened(settings.database) as database:
        schema.require(database)
        with opened_mail_store(database.url) as store:
            server = status_of(database, store, settings.data_dir, now)
    if as_json:
        say(_json(server))
        return
    for sentence in server.sentences(now):
        say(sentence)
    if server.reports:
        say(server.reports)
    queues = server.queues
    say(f"Newest numbers: mail {queues.newest_mail}, letter {queues.newest_letter}.")
    octets = [f"{name.replace('_', ' ')} {size:,}" for name, size in server.octets.items()]
    say(f"Octets: {', '.join(octets)}.")
    say("")
    table(("what waits", "how many", "oldest for"), queue_rows(queues), fixed=3)


def _json(server: ServerStatus) -> str:
    """Return the status as a JSON object."""
    import json

    from pbmserv.service.operators.server_status import is_running

    queues, ends = server.queues, server.certificate_ends
    facts = {
        "running": is_running(queues.beat_s),
        **asdict(queues),
        "up_since": queues.up_since.isoformat() if queues.up_since else None,
        "bytes": server.octets,
        "stages": server.stages,
        "started": server.started.isoformat() if server.started else None,
        "certificate_ends": ends.isoformat() if ends else None,
        "relay": asdict(server.relay),
        "reported_sources": [asdict(source) for source in server.sources],
    }
    return json.dumps(facts)
