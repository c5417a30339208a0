"""Puts together the status of a server, from its databases and its stages on this machine."""

from __future__ import annotations

from contextlib import nullcontext
from datetime import datetime
from pathlib import Path

from pbmserv.service.operators.server_status import ServerStatus, reports_line
from pbmserv.stages.run_folders import first_run_folder
from pbmserv.stages.stage_states import certificate_ends, started_at, states, worst_relay
from pbmserv.store.core.database import Database
from pbmserv.store.delivery import inbox, reported_sources
from pbmserv.store.operators import health

MOST_SOURCES = 20


def status_of(game: Database, mail: Database | None, data_dir: Path, now: datetime) -> ServerStatus:
    """Return the status of the server that uses these databases.

    Args:
        mail: the mail store; `None` if that does not exist yet.
        data_dir: the server's data folder, by which its stages are found.
    """
    with (
        mail.reading.connect() if mail else nullcontext() as arrived,
        game.reading.connect() as connection,
    ):
        queues = health.queues(arrived, connection, now)
        texts = sum(inbox.octets(connection).values())
        reports = reports_line(connection)
        sources = reported_sources.worst(connection, most=MOST_SOURCES)
    by_name = states(first_run_folder(data_dir))
    return ServerStatus(
        queues,
        health.sizes(game) | {"mail_texts": texts},
        reports,
        sources,
        {name: state.doing for name, state in by_name.items()},
        started_at(by_name.values()),
        worst_relay(by_name.values()),
        certificate_ends(by_name.values()),
    )
