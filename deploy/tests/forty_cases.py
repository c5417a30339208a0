"""Run the forty cases in which an operator broke the server, and print a line with a time for each.

    .venv/bin/python deploy/tests/forty_cases.py [--table FILE] [NUMBER...]

It needs a checkout with its development tools (`make check` installs them), and as root more of the
cases run. A case is a set of tests, or a function here that boots what no test does. What this
machine cannot run is printed last, with the reason. The exit code is 1 if a case failed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from email.message import EmailMessage
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TESTS = ROOT / "tests"
LONGEST_S = 600


class CannotRun(Exception):
    """The machine lacks something that a case needs."""


@dataclass(frozen=True)
class Case:
    """A case: an area, what an operator sees, and the proof.

    Attributes:
        proof: node ids of tests, below `tests/`, or a function that raises if the case fails.
    """

    area: str
    promise: str
    proof: Sequence[str] | Callable[[Path], str]


# -- cases that no test boots ------------------------------------------------------------------


def answer_from_wheel(folder: Path) -> str:
    """Build a wheel, install and start it behind Postfix as deploy/README.md does, and read the
    answer to a first mail.

    The time is that of the machine: typing, reading and waiting for DNS are not in it.
    """
    sys.path += [str(TESTS), str(TESTS / "peers")]
    from postfix import postfix
    from programs import SBIN, free_port

    if os.geteuid() != 0 or shutil.which("postfix", path=os.pathsep.join(SBIN)) is None:
        raise CannotRun("it needs root and Postfix")
    run(sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT))
    (wheel,) = folder.glob("*.whl")
    begun = time.monotonic()
    run(sys.executable, "-m", "venv", str(folder / "venv"))
    python = folder / "venv" / "bin" / "python"
    constraints = str(ROOT / "constraints.txt")
    run(str(python), "-m", "pip", "install", "-q", "-c", constraints, f"{wheel}[pictures]")
    installed = time.monotonic()
    lmtp = free_port()
    with postfix(lmtp, ("alice",)) as mta:
        config = folder / "pbmserv.toml"
        config.write_text(
            textwrap.dedent(f"""\
                data_dir = "{folder}"
                address = "pbmserv@games.example"
                smtp = ""
                lmtp = "127.0.0.1:{lmtp}"
                web = ""
                relay = "smtp://127.0.0.1:{mta.port}"
                """)
        )
        server = subprocess.Popen(
            [python.with_name("pbmserv"), "serve", "--config", str(config)],
            cwd=folder,
            stdout=subprocess.DEVNULL,
            stderr=(folder / "log").open("wb"),
        )
        try:
            write_help(mta.port)
            wait_for(lambda: any((mta.maildir("alice") / "new").glob("*")), folder / "log")
        finally:
            server.terminate()
            server.wait(60)
    answered = time.monotonic()
    took = answered - begun
    if took > 300:
        raise AssertionError(f"wheel to first answered mail took {took:.0f} s, more than 300")
    return f"installed after {installed - begun:.0f} s, answered after {took:.0f} s"


def write_help(port: int) -> None:
    """Send the first mail; Postfix asks the server about its recipient while that starts."""
    import smtplib

    mail = EmailMessage()
    mail["From"], mail["To"] = "alice@players.example", "pbmserv@games.example"
    mail["Subject"], mail["Message-ID"] = "help", "<1@players.example>"
    last = time.monotonic() + 60
    while True:
        try:
            with smtplib.SMTP("127.0.0.1", port, timeout=30) as client:
                client.send_message(mail)
            return
        except smtplib.SMTPRecipientsRefused:
            if time.monotonic() > last:
                raise
            time.sleep(0.5)


def restic_and_back(folder: Path) -> str:
    """Follow the recipe of docs/operating/backup.md with a folder as the other machine."""
    if shutil.which("restic") is None:
        raise CannotRun("restic is not installed (apt install restic)")
    pbmserv = str(Path(sys.executable).with_name("pbmserv"))
    for name in ("own", "other"):
        (folder / name).mkdir(mode=0o700)
    own = {"PBMSERV_DATA_DIR": str(folder / "own")}
    run(pbmserv, "db", "upgrade", **own)
    copies = folder / "pbmserv-backup"
    copies.mkdir(mode=0o700)
    run(pbmserv, "db", "backup", str(copies / "copy"), **own)
    password = folder / "password"
    password.write_text("word\n")
    repository = {
        "RESTIC_REPOSITORY": str(folder / "repository"),
        "RESTIC_PASSWORD_FILE": str(password),
        "RESTIC_CACHE_DIR": str(folder / "cache"),
    }
    for words in (
        ("init",),
        ("backup", "--tag", "pbmserv", str(copies)),
        ("forget", "--tag", "pbmserv", "--keep-daily", "14", "--keep-weekly", "8", "--prune"),
        ("check", "--read-data"),
        ("restore", "latest", "--tag", "pbmserv", "--target", str(folder / "restored")),
    ):
        run("restic", *words, **repository)
    (copy,) = (folder / "restored").rglob("copy")
    other = {"PBMSERV_DATA_DIR": str(folder / "other")}
    run(pbmserv, "db", "restore", str(copy), **other)
    run(pbmserv, "db", "check", **other)
    return ""


def wait_for(condition: Callable[[], bool], log: Path) -> None:
    """Wait until a condition holds, for two minutes at most."""
    last = time.monotonic() + 120
    while not condition():
        if time.monotonic() > last:
            raise AssertionError(f"no answer came: {log.read_text()[-1000:]}")
        time.sleep(0.1)


def run(*command: str, **environment: str) -> None:
    """Run a command; its output is shown if it fails."""
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        env={**os.environ, **environment},
        timeout=LONGEST_S,
    )
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: {(done.stdout + done.stderr)[-1000:]}")


CASES = (
    Case("install", "from the wheel to the first answered mail in 5 minutes", answer_from_wheel),
    Case(
        "settings",
        "a wrong setting ends the start with a sentence that shows a right one",
        ["unit/test_settings_refused.py::test_nonsense_is_refused"],
    ),
    Case(
        "settings",
        "a server that no mail can reach does not start",
        ["faults/test_starting.py::test_no_way_in_for_mail"],
    ),
    Case(
        "settings",
        "pages without a door say so, and a move fails at once",
        [
            "faults/test_page_requests_killed.py::test_pages_without_a_door_say_so_and_refuse_a_move_at_once"
        ],
    ),
    Case(
        "settings",
        "an older program refuses a newer database with one sentence",
        [
            "deploying/test_deploy_readme.py::test_an_older_version_refuses_a_newer_database_with_one_sentence"
        ],
    ),
    Case(
        "owners",
        "a folder that cannot be written to is named, with the command that repairs it",
        [
            "faults/test_starting.py::test_files_that_cannot_be_written_are_named",
            "faults/test_starting.py::test_the_advice_is_for_what_keeps_us_from_writing",
        ],
    ),
    Case(
        "owners",
        "nobody else on the machine reads data, whatever the umask",
        [
            "faults/test_starting.py::test_folders_are_private_whatever_the_umask",
            "store/test_store_place.py",
        ],
    ),
    Case(
        "owners",
        "a folder of sockets in which others may write is refused",
        ["faults/test_starting.py::test_a_folder_of_sockets_in_which_others_may_put_their_own"],
    ),
    Case(
        "owners",
        "only the owner reads a copy, and it replaces nothing else",
        [
            "operators/test_backup_files.py::test_only_the_owner_can_read_a_copy",
            "operators/test_backup_files.py::test_nothing_but_a_file_is_replaced",
        ],
    ),
    Case(
        "ports",
        "a taken port is told before anything else",
        ["faults/test_stopping.py::test_a_port_that_is_taken_is_told_before_anything_else"],
    ),
    Case(
        "ports",
        "a port for root alone is named, with the drop-in that allows it",
        ["faults/test_starting.py::test_a_port_that_only_root_may_have"],
    ),
    Case(
        "ports",
        "two servers on one SQLite are refused, on one PostgreSQL welcome",
        [
            "faults/test_starting.py::test_two_servers_on_one_sqlite_and_commands_beside_one",
            "faults/test_starting.py::test_two_servers_on_one_postgresql_are_welcome",
        ],
    ),
    Case(
        "ports",
        "three hundred idle clients keep neither mail nor pages out",
        ["faults/test_crowds.py::test_three_hundred_idle_clients_keep_neither_mail_nor_pages_out"],
    ),
    Case(
        "ports",
        "too few files that may be open are told at the start",
        ["faults/test_starting.py::test_too_few_files_may_be_open"],
    ),
    Case(
        "disks",
        "a disk that fills is reported before, and when it is full",
        ["watching/test_health.py::test_a_disk_that_fills_is_reported_before_and_when_it_is_full"],
    ),
    Case(
        "disks",
        "a mail that cannot be stored is put off, and counts once",
        [
            "faults/test_unwritable.py::test_a_mail_that_cannot_be_stored_is_put_off_and_counts_once_when_it_comes_again"
        ],
    ),
    Case(
        "disks",
        "a full disk leaves no half copy behind",
        ["operators/test_backup_files.py::test_a_full_disk_leaves_nothing_behind"],
    ),
    Case(
        "disks",
        "a log on a full disk or behind a stuck pipe stops nobody",
        [
            "watching/test_log_writing.py::test_a_full_disk_stops_nobody_and_the_log_continues_later",
            "watching/test_log_writing.py::test_a_full_pipe_blocks_nobody_and_the_loss_is_reported",
        ],
    ),
    Case(
        "kills",
        "processes killed under load lose, double and leave behind nothing",
        ["faults/test_kills.py", "faults/test_killed.py"],
    ),
    Case(
        "kills",
        "bots move after the plug was pulled",
        ["faults/test_killed_house.py"],
    ),
    Case(
        "kills",
        "a press on a page is carried out once though play is killed",
        [
            "faults/test_page_requests_killed.py::test_a_press_is_carried_out_once_though_play_is_killed"
        ],
    ),
    Case(
        "kills",
        "a clean stop finishes what is under way",
        ["faults/test_stopping.py::test_a_clean_stop_finishes_what_is_under_way"],
    ),
    Case(
        "kills",
        "a mail on which our code fails is kept, told and carried out again",
        ["faults/test_kept_mails.py"],
    ),
    Case(
        "corruption",
        "a damaged page of a running SQLite is found and named",
        ["watching/test_damaged_pages.py"],
    ),
    Case(
        "corruption",
        "a truncated or damaged copy changes nothing",
        [
            "operators/test_backup.py::test_a_truncated_copy_is_refused_and_changes_nothing",
            "operators/test_backup_files.py::test_a_damaged_compressed_copy_changes_nothing",
        ],
    ),
    Case(
        "corruption",
        "a damaged database is replaced by a copy, and play goes on from there",
        [
            "operators/test_backup_files.py::test_a_damaged_database_is_replaced",
            "operators/test_backup.py::test_a_restored_server_is_played_on_from_where_the_copy_was_made",
        ],
    ),
    Case("corruption", "a copy comes back from another machine by restic", restic_and_back),
    Case(
        "clocks",
        "a clock that nobody has set starts no server",
        ["faults/test_starting.py::test_a_clock_that_nobody_has_set"],
    ),
    Case(
        "clocks",
        "no player's clock runs while the server is down",
        ["time/test_outages_of_stages.py"],
    ),
    Case(
        "relays",
        "letters wait for a relay that is down, which is shown with its fault",
        [
            "faults/test_stopping.py::test_letters_wait_for_a_relay_that_is_down",
            "watching/test_status.py::test_a_relay_that_is_down_is_shown_with_its_last_fault",
        ],
    ),
    Case(
        "relays",
        "one greylisted recipient does not hold up its domain",
        ["unit/test_sender.py::test_a_greylisted_recipient_does_not_hold_up_its_domain"],
    ),
    Case(
        "relays",
        "a reply address asked about during a restart is known after it (Postfix)",
        ["peers/test_postfix_restart.py"],
    ),
    Case(
        "relays",
        "Postfix brings our mail in and nobody gets a report about a forged one",
        ["peers/test_postfix_door.py", "peers/test_postfix_debian.py"],
    ),
    Case(
        "relays",
        "networks that are refused again and again are banned (fail2ban, nftables)",
        ["deploying/test_fail2ban_bans.py"],
    ),
    Case(
        "certificates",
        "a certificate is reported three weeks before its end",
        ["watching/test_certificate.py"],
    ),
    Case(
        "certificates",
        "a renewed certificate is taken up, and a broken one is not",
        ["faults/test_smtp_tls.py::test_a_renewed_certificate_is_shown_and_a_broken_one_is_not"],
    ),
    Case(
        "pools",
        "a pooler of transactions is refused, one of sessions is no trouble",
        ["store/test_postgresql_sessions.py"],
    ),
    Case(
        "pools",
        "a database that falls silent puts mail off, and then all goes on",
        ["faults/test_silent_database.py"],
    ),
    Case(
        "standby",
        "the standby takes over, and nothing is lost or doubled",
        ["faults/test_failover.py::test_the_standby_takes_over_and_nothing_is_lost_or_doubled"],
    ),
    Case(
        "standby",
        "while the standby is away no mail gets a 250 that one host alone knows of",
        [
            "faults/test_failover.py::test_while_the_standby_is_away_no_mail_gets_a_250_that_one_host_alone_knows_of"
        ],
    ),
)

NEVER_HERE = {
    "the units under a real systemd (deploy/tests/systemd.sh does)": lambda: False,
    "the containers under a Docker engine (deploy/tests/compose.sh does)": lambda: False,
    "Patroni or pg_auto_failover that promotes the standby by itself": (
        lambda: shutil.which("patroni") is not None
    ),
    "two machines, HAProxy and keepalived": lambda: False,
    "DNS of the Internet, port 25 outwards, and mail at a large provider": lambda: False,
}
"""What no case covers, each with a question whether this machine could run it by hand."""


def outcome_of(case: Case) -> tuple[str, str]:
    """Return ``ok``, ``FAILED`` or ``NOT RUN``, and a remark."""
    if callable(case.proof):
        with tempfile.TemporaryDirectory(prefix="pbmserv-case-") as folder:
            try:
                return "ok", case.proof(Path(folder))
            except CannotRun as reason:
                return "NOT RUN", str(reason)
            except Exception as error:  # noqa: BLE001 - the other cases are run, too
                return "FAILED", f"{type(error).__name__}: {error}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n0", "-q", *(f"tests/{node}" for node in case.proof)],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=LONGEST_S,
    )
    last = done.stdout.strip().rpartition("\n")[2]
    if done.returncode != 0:
        return "FAILED", " ".join(re.findall(r"^(?:FAILED|ERROR) .*", done.stdout, re.MULTILINE))[
            :300
        ]
    if " passed" not in last:
        reason = re.search(r"NOT RUN: (.*)", done.stdout)
        return "NOT RUN", reason[1] if reason else last
    return "ok", re.sub(r" in .*", "", last)


def main() -> int:
    parser = argparse.ArgumentParser(description="Run the forty cases.")
    parser.add_argument("numbers", nargs="*", type=int, help="run these cases only")
    parser.add_argument("--table", type=Path, help="write a table in Markdown, too")
    arguments = parser.parse_args()
    rows = []
    for number, case in enumerate(CASES, 1):
        if arguments.numbers and number not in arguments.numbers:
            continue
        begun, before = time.monotonic(), os.times()
        outcome, remark = outcome_of(case)
        wall, after = time.monotonic() - begun, os.times()
        spent = after.children_user + after.children_system
        spent -= before.children_user + before.children_system
        rows.append((number, case, outcome, remark, wall, spent))
        print(
            f"{number:2} {outcome:7} {wall:6.1f} s  {case.area}: {case.promise}"
            + (f" ({remark})" if remark else ""),
            flush=True,
        )
    missing = [what for what, could_run in NEVER_HERE.items() if not could_run()]
    for what in missing:
        print(f"   NOT RUN: {what}")
    if arguments.table:
        lines = [
            "| # | area | case | outcome | time | processor time |",
            "|---|---|---|---|---|---|",
        ]
        for number, case, outcome, remark, wall, spent in rows:
            words = outcome.lower()
            if callable(case.proof) and remark:
                words += f", {remark}"
            cells = (number, case.area, case.promise, words, f"{wall:.0f} s", f"{spent:.0f} s")
            lines.append(f"| {' | '.join(map(str, cells))} |")
        arguments.table.write_text("\n".join(lines) + "\n")
    return int(any(outcome == "FAILED" for _, _, outcome, *_ in rows))


if __name__ == "__main__":
    sys.exit(main())
