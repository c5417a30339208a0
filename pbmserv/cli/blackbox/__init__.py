"""``pbmserv blackbox``: boxes at the command line, to make, read, print and play.

Exit codes of all these commands: 0 done; 1 `check` found a mark that the markers do not explain,
or a file could not be written; 2 an argument, a line of standard input or a file to read is
wrong; 130 stopped by Ctrl-C; 141 the reader of the output closed the pipe.
"""

from __future__ import annotations

import typer

from pbmserv.cli.blackbox.boxes import decode, encode, generate
from pbmserv.cli.blackbox.play import play
from pbmserv.cli.blackbox.printing import print_
from pbmserv.cli.blackbox.ray_results import rays
from pbmserv.cli.blackbox.reporting import analyse
from pbmserv.cli.blackbox.saving import load, save
from pbmserv.cli.blackbox.show import check, show

_HELP = (
    "Blackbox at the command line: make, read, print and play boxes.\n\n"
    "PARAMS is the kind of box: 8x8, 8x8/5, 8x8/3-6, or w8h8m3M6 as in Simon Tatham's program. "
    "These commands read and write both forms of his game IDs. They print one result a line, "
    "so you can pipe one into the next:\n\n"
    "pbmserv blackbox generate 12 8x8/5 | pbmserv blackbox print 2x3 > boxes.pdf\n\n"
    "Exit codes: 0 done; 1 check found a contradiction, or a file was not written; 2 wrong input; "
    "130 stopped by Ctrl-C; 141 the reader of a pipe left."
)

app = typer.Typer(no_args_is_help=True, help=_HELP)
app.command()(generate)
app.command()(decode)
app.command()(encode)
app.command()(rays)
app.command()(show)
app.command()(check)
app.command("print")(print_)
app.command()(play)
app.command()(save)
app.command()(load)
app.command()(analyse)
