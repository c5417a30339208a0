"""A PostgreSQL database with the keys of a distributed one, for `distributed = true`."""

from __future__ import annotations

from pathlib import Path

from pbmserv.store.core.database import Database

SCRIPT = Path(__file__).parents[1] / "deploy" / "postgresql" / "distribute.sql"
NOTING = """
CREATE SCHEMA noted;
CREATE TABLE noted.placement (name text, key text, beside text);
CREATE FUNCTION create_reference_table(which regclass) RETURNS void LANGUAGE sql
    AS $$ INSERT INTO noted.placement VALUES (which::text, NULL, NULL) $$;
CREATE FUNCTION create_distributed_table(
    which regclass, key text, colocate_with text DEFAULT 'default'
) RETURNS void LANGUAGE sql
    AS $$ INSERT INTO noted.placement VALUES (which::text, key, colocate_with) $$;
"""


def distribute(database: Database) -> None:
    """Run the script that divides the tables; `noted.placement` has the place of each."""
    with database.writing.begin() as connection:
        for script in (NOTING, SCRIPT.read_text()):
            connection.exec_driver_sql(script)
