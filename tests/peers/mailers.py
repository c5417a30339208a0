"""Mail programs as players have them: swaks to send, mutt to read a Maildir and to reply."""

from __future__ import annotations

import os
import pty
import select
import subprocess
from dataclasses import dataclass
from email import policy
from email.message import EmailMessage
from email.parser import BytesParser
from pathlib import Path
from time import monotonic, sleep

from postfix import Postfix
from programs import PATIENCE_S, program

NO_RECIPIENT = 24
"""Exit code of swaks if all recipients were refused."""

# mutt asks what to do with a text that is younger than the second in which it was edited.
_EDITOR = """#!/bin/sh
{ cat "%s"; cat "$1"; } > "$1.new" && touch -d "10 seconds ago" "$1.new" && mv "$1.new" "$1"
"""

_RC = """
set mbox_type = Maildir
set folder = {box}
set spoolfile = {box}
set from = {name}@players.example
set realname = {name}
set use_from = yes
set envelope_from = yes
set smtp_url = smtp://127.0.0.1:{port}/
set ssl_starttls = no
set ssl_force_tls = no
set editor = {editor}
set edit_headers = no
set autoedit = yes
set fast_reply = yes
set include = yes
set reply_to = yes
set recall = no
set copy = no
set abort_unmodified = no
set confirmappend = no
set quit = yes
set mark_old = no
set header_cache =
set sort = date-received
set postponed = {folder}/postponed
set tmpdir = {folder}
set send_charset = "us-ascii:utf-8"
set charset = utf-8
"""


@dataclass(frozen=True)
class Player:
    """A player whose mail server is Postfix."""

    name: str
    mta: Postfix
    folder: Path
    domain: str = "players.example"

    @property
    def address(self) -> str:
        return f"{self.name}@{self.domain}"

    def letters(self) -> list[EmailMessage]:
        """Return all letters in the Maildir in the order of their arrival."""
        box = self.mta.maildir(self.name)
        files = [*(box / "new").glob("*"), *(box / "cur").glob("*")]
        parse = BytesParser(policy=policy.default)
        letters = [parse.parsebytes(path.read_bytes()) for path in sorted(files, key=_arrived)]
        return [letter for letter in letters if isinstance(letter, EmailMessage)]

    def wait_for(self, count: int) -> EmailMessage:
        """Wait until there are *count* letters, and return the newest."""
        last = monotonic() + PATIENCE_S
        while len(letters := self.letters()) < count:
            assert monotonic() < last, f"{self.name} has {len(letters)} letters\n{self.mta.log}"
            sleep(0.05)  # a Maildir sends no event
        assert len(letters) == count, [str(letter["Subject"]) for letter in letters]
        return letters[-1]

    def writes(
        self,
        subject: str,
        body: str = "",
        to: str = "pbmserv@games.example",
        *,
        refused: bool = False,
    ) -> None:
        """Send a mail with swaks.

        Args:
            refused: whether Postfix is to refuse the recipient.
        """
        done = subprocess.run(
            [
                program("swaks"),
                *("--server", "127.0.0.1", "--port", str(self.mta.port)),
                *("--from", self.address, "--to", to, "--helo", "phone.players.example"),
                *("--header", f"Subject: {subject}", "--body", body or "(no text)"),
                *("--header", f"From: {self.name} <{self.address}>", "--silent", "2"),
            ],
            check=False,
            capture_output=True,
            timeout=PATIENCE_S,
        )
        assert (done.returncode == NO_RECIPIENT) is refused, done.stdout
        assert done.returncode in {0, NO_RECIPIENT}, done.stdout

    def replies_in_mutt(self, text: str) -> None:
        """Open the Maildir in mutt, reply to the newest letter with *text* on top, and send."""
        self.folder.mkdir(exist_ok=True)
        body = self.folder / "body"
        body.write_text(text + "\n\n")
        editor = self.folder / "editor"
        editor.write_text(_EDITOR % body)
        editor.chmod(0o755)
        rc = self._rc(editor)
        newest = str(self.letters()[-1]["Message-ID"]).strip("<>")  # two may have the same Date
        keys = f'push "<limit>~i {newest}<enter><reply><send-message><quit>"'
        _in_a_terminal([program("mutt"), "-n", "-F", str(rc), "-e", keys], self.folder)

    def thread_in_mutt(self) -> list[str]:
        """Return the subjects of the newest letter's thread, as mutt sorts the Maildir."""
        copied = self.folder / "thread"
        rc = self._rc(self.folder / "no-editor", "set sort = threads\nset confirmcreate = no\n")
        newest = str(self.letters()[-1]["Message-ID"]).strip("<>")
        keys = (
            f'push "<search>~i {newest}<enter><tag-thread><tag-prefix><copy-message>'
            f'<kill-line>{copied}<enter><quit>"'
        )
        _in_a_terminal([program("mutt"), "-n", "-F", str(rc), "-e", keys], self.folder)
        parse = BytesParser(policy=policy.default)
        files = [*copied.glob("new/*"), *copied.glob("cur/*")]
        return sorted(str(parse.parsebytes(path.read_bytes())["Subject"]) for path in files)

    def _rc(self, editor: Path, more: str = "") -> Path:
        """Write the settings of mutt, and return their path."""
        self.folder.mkdir(exist_ok=True)
        rc = self.folder / "muttrc"
        settings = _RC.format(
            box=self.mta.maildir(self.name),
            name=self.name,
            port=self.mta.port,
            editor=editor,
            folder=self.folder,
        )
        rc.write_text(settings + more)
        return rc


def _arrived(path: Path) -> tuple[int, str]:
    """Return a key for sorting: names in a Maildir are exact to the second only."""
    return path.stat().st_mtime_ns, path.name


def _in_a_terminal(command: list[str], home: Path) -> None:
    """Run a full-screen program until it ends by itself."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "vt100", "HOME": str(home), "LC_ALL": "C.UTF-8"}
    process = subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    shown = b""
    last = monotonic() + PATIENCE_S
    try:
        while process.poll() is None:
            assert monotonic() < last, f"it does not end: {shown[-2000:]!r}"
            if select.select([ours], [], [], 0.1)[0]:
                try:
                    shown += os.read(ours, 65536)
                except OSError:  # Linux says so when the other end has closed
                    break
        assert process.wait(PATIENCE_S) == 0, shown[-2000:]
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        os.close(ours)
