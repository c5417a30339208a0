"""Savepoints: what a part of a transaction did can be taken back, and the rest of it stays."""

from __future__ import annotations

from sqlalchemy import Connection, text

from pbmserv.store.core.prepared import Prepared


class Savepoint:
    """A savepoint of a certain name; `begin_nested` would cost as much as an ordinary job."""

    def __init__(self, name: str) -> None:
        self._begin = Prepared(text(f"SAVEPOINT {name}"))
        self._undo = Prepared(text(f"ROLLBACK TO SAVEPOINT {name}"))
        self._end = Prepared(text(f"RELEASE SAVEPOINT {name}"))

    def begin(self, connection: Connection) -> None:
        """From here on things can be taken back."""
        self._begin.run(connection)

    def undo(self, connection: Connection) -> None:
        """Take back everything since `begin`; `end` must follow."""
        self._undo.run(connection)

    def end(self, connection: Connection) -> None:
        """Keep what there is."""
        self._end.run(connection)
