"""``pbmserv doctor``: checks an installation from outside."""

from __future__ import annotations

from ipaddress import ip_address
from typing import Annotated

import typer

from pbmserv.cli.output import say
from pbmserv.cli.settings import ConfigFile, loaded


def doctor(
    send_test: Annotated[
        str,
        typer.Option(metavar="ADDRESS", help="Send a test letter to a mailbox of yours, too."),
    ] = "",
    ip: Annotated[
        list[str] | None,
        typer.Option(help="A public address from which your letters leave; may be repeated."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object, for programs.")
    ] = False,
    config: ConfigFile = None,
) -> None:
    """Check names, ports, certificates, Postfix, disk, copies and the clock.

    Each line says what was checked, and the line below a fault how to mend it.
    Exit code: 0 all is well, 1 something may fail later, 2 players or other
    servers notice it already.

    Example: pbmserv doctor --send-test you@example.net
    """
    from json import dumps

    from pbmserv.clock import SystemClock
    from pbmserv.doctor import trial_letter
    from pbmserv.doctor.examination import examine, worst
    from pbmserv.doctor.finding import Level
    from pbmserv.doctor.installation import Installation
    from pbmserv.mail.dns import SystemResolver

    addresses = tuple(_address(text) for text in ip or ())
    settings = loaded(config).settings
    installation = Installation(settings, SystemResolver(), SystemClock(), addresses)
    findings = examine(installation)
    if send_test:
        findings.append(trial_letter.send(installation, send_test))
    level = worst(findings)
    if as_json:
        checks = [finding.as_json() for finding in findings]
        say(dumps({"level": level.name.lower(), "checks": checks}, indent=2))
        raise typer.Exit(int(level))
    signs = {Level.OK: "ok", Level.WARNING: "WARNING", Level.PROBLEM: "PROBLEM"}
    for finding in sorted(findings, key=lambda finding: -finding.level):
        say(f"{signs[finding.level]:8} {finding.subject}: {finding.sentence}")
        if finding.advice:
            say(f"         → {finding.advice}")
    raise typer.Exit(int(level))


def _address(text: str) -> str:
    try:
        return str(ip_address(text))
    except ValueError:
        raise typer.BadParameter(f"--ip {text}: write an IP address, such as 192.0.2.10") from None
