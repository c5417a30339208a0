"""``pbmserv operator-token``: makes the token for the operators' pages."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from pbmserv.cli.output import failure, say


def operator_token(
    file: Annotated[Path, typer.Argument(help="A new file for the token.")],
) -> None:
    """Make the token for the operators' pages.

    They offer in a browser what the commands for operators do: `pbmserv user`,
    `board`, `inbox` and the others.

    Only the user who runs this can read the file, so run it as the server's user.

    Example: pbmserv operator-token /etc/pbmserv/operator-token
    """
    from pbmserv import files
    from pbmserv.web.operators.token import new_token

    if os.path.lexists(file):
        raise failure(f"{file} exists already. Remove it to end all sessions with a new token.")
    with files.whole_file(file, files.only_new) as unfinished:
        unfinished.write_text(f"{new_token()}\n")
    say(f"The token is in {file}. Everybody who has it can do what you can do: keep it secret.\n")
    say(f'Then set operator_token = "{file}" and operator_pages = "127.0.0.1:8028",')
    say("or PBMSERV_OPERATOR_TOKEN and PBMSERV_OPERATOR_PAGES, and start the server again.")
