"""``pbmserv status``: what waits, for how long, and whether a server runs, from the database."""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pbmserv.cli.output import say, table
from pbmserv.cli.settings import ConfigFile, loaded

if TYPE_CHECKING:
    from pbmserv.store.operators.health import Queues

RUNS_S = 90
"""Seconds since it was last heard of for which a server is said to run: it beats every 30."""


def status(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object, for programs.")] = False,
    config: ConfigFile = None,
) -> None:
    """Show what waits, for how long, and whether a server runs on this database.

    What a running process has counted is at /metrics (PBMSERV_METRICS).

    Example: pbmserv status --json
    """
    import json

    from pbmserv import files
    from pbmserv.cli.database import opened
    from pbmserv.store.core import schema
    from pbmserv.store.delivery import inbox
    from pbmserv.store.operators import health

    found = loaded(config)
    files.must_be_there(found.settings.database, found.sources)
    with opened(found.settings.database) as database:
        schema.require(database)
        with database.reading.connect() as connection:
            queues = health.queues(connection, datetime.now(UTC))
            texts = sum(inbox.octets(connection).values())
        sizes = health.sizes(database) | {"mail_texts": texts}
    if as_json:
        say(json.dumps(_facts(queues, sizes)))
        return
    say(_running(queues))
    say(f"Mails so far: {queues.mails_ever}, letters so far: {queues.letters_ever}.")
    say(
        "Octets: "
        + ", ".join(f"{name.replace('_', ' ')} {size:,}" for name, size in sizes.items())
        + "."
    )
    say("")
    table(("what waits", "how many", "first for"), _rows(queues), fixed=3)


def _runs(queues: Queues) -> bool:
    return queues.beat_s is not None and queues.beat_s <= RUNS_S


def _running(queues: Queues) -> str:
    if queues.beat_s is None or queues.up_since is None:
        return "No server has ever run on this database."
    from pbmserv.service.operators.health import span

    heard = f"it was last heard of {span(queues.beat_s)} ago"
    if not _runs(queues):
        return f"No server runs: {heard}."
    return f"A server runs since {queues.up_since:%Y-%m-%d %H:%M} UTC; {heard}."


def _facts(queues: Queues, sizes: dict[str, int]) -> dict[str, Any]:
    up_since = queues.up_since.isoformat() if queues.up_since else None
    return {"running": _runs(queues), **asdict(queues), "up_since": up_since, "bytes": sizes}


def _rows(queues: Queues) -> list[tuple[str, str, str]]:
    from pbmserv.service.operators.health import span

    waiting = {
        "mails kept for the operator": queues.kept,
        "letters due": queues.due,
        "letters in the queue": queues.queued,
        "boards at which the house is to move": queues.house,
        "boards whose clocks are behind": queues.clocks,
        "digests due": queues.digests,
    }
    rows = [
        (what, str(one.count), span(one.oldest_s) if one.count else "")
        for what, one in waiting.items()
    ]
    return rows + [(f"letters {state}", str(n), "") for state, n in sorted(queues.letters.items())]
