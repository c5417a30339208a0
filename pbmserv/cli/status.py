"""``pbmserv status``: shows waiting mails and letters, and whether a server runs."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer

from pbmserv.cli.open_databases import opened, opened_mail_store
from pbmserv.cli.output import say, table
from pbmserv.cli.settings import ConfigFile, loaded
from pbmserv.plurals import counted


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
    import json

    from pbmserv import files
    from pbmserv.service.operators.health import sentence_about
    from pbmserv.stages.run_folders import first_run_folder
    from pbmserv.stages.state import certificate_ends, started_at, states, worst_relay
    from pbmserv.stages.status_lines import (
        is_running,
        queue_rows,
        relay_line,
        reports_line,
        running_line,
    )
    from pbmserv.store.core import schema
    from pbmserv.store.delivery import inbox, reported_sources
    from pbmserv.store.operators import health

    configuration = loaded(config)
    files.check_database_exists(configuration.settings.database, configuration.sources)
    with opened(configuration.settings.database) as database:
        schema.require(database)
        with (
            opened_mail_store(database.url) as store,
            store.reading.connect() if store else nullcontext() as mail,
            database.reading.connect() as connection,
        ):
            queues = health.queues(mail, connection, datetime.now(UTC))
            texts = sum(inbox.octets(connection).values())
            reports = reports_line(connection)
            sources = reported_sources.worst(connection, most=20)
        sizes = health.sizes(database) | {"mail_texts": texts}
    states_here = states(first_run_folder(configuration.settings.data_dir))
    stages = {name: state.doing for name, state in states_here.items()}
    certificate_end = certificate_ends(states_here.values())
    since = started_at(states_here.values())
    relay = worst_relay(states_here.values())
    if as_json:
        up_since = queues.up_since.isoformat() if queues.up_since else None
        facts = {
            "running": is_running(queues),
            **asdict(queues),
            "up_since": up_since,
            "bytes": sizes,
            "stages": stages,
            "started": since.isoformat() if since else None,
            "certificate_ends": certificate_end.isoformat() if certificate_end else None,
            "relay": asdict(relay),
            "reported_sources": [asdict(source) for source in sources],
        }
        say(json.dumps(facts))
        return
    say(running_line(queues, since))
    if stages:
        parts = [f"{name} ({doing})" if doing else name for name, doing in stages.items()]
        say(f"Stages on this machine: {', '.join(parts)}.")
    elif is_running(queues):
        say("None of its stages is there on this machine: it has just ended, or runs elsewhere.")
    if line := relay_line(relay):
        say(line)
    if certificate_end is not None:
        say(_certificate_line(certificate_end))
    if reports:
        say(reports)
    for away in queues.away:
        say(f"Game {sentence_about(away)}.")
    say(f"Newest numbers: mail {queues.newest_mail}, letter {queues.newest_letter}.")
    octets = ", ".join(f"{name.replace('_', ' ')} {size:,}" for name, size in sizes.items())
    say(f"Octets: {octets}.")
    say("")
    table(("what waits", "how many", "oldest for"), queue_rows(queues), fixed=3)


def _certificate_line(ends: datetime) -> str:
    days = (ends - datetime.now(UTC)) // timedelta(days=1)
    if days < 0:
        return f"The certificate of the mail ports ended {ends:%Y-%m-%d}."
    return f"The certificate of the mail ports ends {ends:%Y-%m-%d}, in {counted(days, 'day')}."
