"""`pbmserv doctor` names what keeps mail from arriving, with the line that mends it."""

from __future__ import annotations

import json
import os
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path
from types import SimpleNamespace
from urllib.error import URLError

import pytest
import trustme
from aiosmtpd.smtp import AuthResult
from dns_zone import Zone
from fork_server import run
from name_server import name_server
from processes import Sink
from programs import free_port
from rows import rows

from pbmserv.clock import SystemClock
from pbmserv.config.settings import load
from pbmserv.doctor import (
    certificates,
    connections,
    databases,
    dns_records,
    machine,
    postfix,
    trial_letter,
)
from pbmserv.doctor.examination import examine, worst
from pbmserv.doctor.finding import Finding, Level
from pbmserv.doctor.installation import Installation
from pbmserv.monitoring.upkeep import last_backup_file
from pbmserv.outbound.dkim_keys import make_key

DOMAIN = "games.letterplay.org"
IP = "198.51.100.7"


def healthy_zone() -> Zone:
    zone = Zone()
    zone.add("MX", DOMAIN, f"10 {DOMAIN}.")
    zone.add("A", DOMAIN, IP)
    zone.add_txt(DOMAIN, "v=spf1 mx -all")
    zone.add_txt(f"_dmarc.{DOMAIN}", "v=DMARC1; p=quarantine; rua=mailto:me@elsewhere.net")
    zone.add_ptr(IP, f"{DOMAIN}.")
    return zone


@contextmanager
def installation(
    tmp_path: Path, zone: Zone, *, postfix: dict[str, str] | None = None, **changes: str
) -> Iterator[Installation]:
    settings = {
        "PBMSERV_DATA_DIR": str(tmp_path),
        "PBMSERV_ADDRESS": f"pbmserv@{DOMAIN}",
        "PBMSERV_RELAY": "smtp://127.0.0.1:9",
        **{f"PBMSERV_{name.upper()}": value for name, value in changes.items()},
    }
    with name_server(zone, {}) as server:
        yield Installation(
            load(settings, None).settings,
            server.resolver(),
            SystemClock(),
            (IP,),
            ({} if postfix is None else postfix).get,
        )


def only(findings: Iterator[Finding]) -> Finding:
    (finding,) = findings
    return finding


def test_a_healthy_domain_has_no_faults(tmp_path: Path) -> None:
    key = make_key("s2026", "rsa", tmp_path / "s2026.pem")
    zone = healthy_zone()
    zone.add_txt(key.name(DOMAIN), key.record)
    keys = f"s2026={tmp_path / 's2026.pem'}"
    with installation(tmp_path, zone, dkim_keys=keys) as healthy:
        for check in (
            dns_records.mx,
            dns_records.spf,
            dns_records.dkim_keys,
            dns_records.dmarc,
            dns_records.ptr,
            dns_records.helo,
        ):
            assert only(check(healthy)).level is Level.OK, check


def test_an_empty_zone_is_told_each_record_to_add(tmp_path: Path) -> None:
    with installation(tmp_path, Zone()) as bare:
        assert only(dns_records.mx(bare)).advice == f"{DOMAIN}. IN MX 10 {DOMAIN}."
        assert only(dns_records.spf(bare)).advice == f'{DOMAIN}. IN TXT "v=spf1 mx -all"'
        assert only(dns_records.dmarc(bare)).advice.startswith(f"_dmarc.{DOMAIN}. IN TXT")
        assert "it has no name in DNS" in only(dns_records.ptr(bare)).sentence
        assert only(dns_records.helo(bare)).level is Level.PROBLEM
        assert only(dns_records.dkim_keys(bare)).level is Level.WARNING


@rows(
    ("record", "part"),
    [
        ("v=spf1 ip4:203.0.113.9 -all", "may not send"),
        ("v=spf1 +all", "lets everybody send"),
        ("v=spf1 include:nowhere.letterplay.org -all", "may not send"),
    ],
)
def test_a_wrong_spf_record_is_named(tmp_path: Path, record: str, part: str) -> None:
    zone = healthy_zone()
    zone.records.pop(("TXT", DOMAIN))
    zone.add_txt(DOMAIN, record)
    with installation(tmp_path, zone) as wrong:
        finding = only(dns_records.spf(wrong))
    assert (finding.level, part in finding.sentence) == (Level.PROBLEM, True), finding


def test_a_key_that_is_not_the_published_one_is_named(tmp_path: Path) -> None:
    key = make_key("s2026", "rsa", tmp_path / "s2026.pem")
    other = make_key("s2026", "rsa", tmp_path / "other.pem")
    zone = healthy_zone()
    zone.add_txt(key.name(DOMAIN), other.record)
    with installation(tmp_path, zone, dkim_keys=f"s2026={tmp_path / 's2026.pem'}") as wrong:
        finding = only(dns_records.dkim_keys(wrong))
    assert "another key" in finding.sentence
    assert key.public[:40] in finding.advice


def test_reports_must_not_come_back_to_the_server(tmp_path: Path) -> None:
    zone = healthy_zone()
    zone.records.pop(("TXT", f"_dmarc.{DOMAIN}"))
    zone.add_txt(f"_dmarc.{DOMAIN}", f"v=DMARC1; p=reject; rua=mailto:postmaster@{DOMAIN}")
    with installation(tmp_path, zone) as wrong:
        finding = only(dns_records.dmarc(wrong))
    assert (finding.level, "reads itself" in finding.sentence) == (Level.WARNING, True)


@rows(
    ("policy", "part"),
    [
        (f"mode: enforce\nmx: {DOMAIN}\n", "names every MX host"),
        ("mode: enforce\nmx: *.letterplay.org\n", "names every MX host"),
        ("mode: enforce\nmx: *.org\n", f"does not name {DOMAIN}"),
        ("", f"does not name {DOMAIN}"),
        (None, "cannot be fetched: no answer"),
    ],
)
def test_a_policy_of_mta_sts_names_the_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, policy: str | None, part: str
) -> None:
    def fetch(url: str, timeout: float) -> BytesIO:
        assert url == f"https://mta-sts.{DOMAIN}/.well-known/mta-sts.txt"
        if policy is None:
            raise URLError("no answer")
        return BytesIO(policy.encode())

    monkeypatch.setattr(urllib.request, "urlopen", fetch)
    zone = healthy_zone()
    with installation(tmp_path, zone) as without:
        assert only(dns_records.mta_sts(without)).level is Level.OK
    zone.add_txt(f"_mta-sts.{DOMAIN}", "v=STSv1; id=1")
    with installation(tmp_path, zone) as promised:
        finding = only(dns_records.mta_sts(promised))
    assert part in finding.sentence
    assert (finding.level is Level.OK) == ("every" in part)


POSTFIX = {
    "mail_version": "3.7.11",
    "myhostname": DOMAIN,
    "mydestination": "localhost",
    "recipient_delimiter": "+",
    "virtual_mailbox_domains": DOMAIN,
    "virtual_transport": "lmtp:inet:127.0.0.1:2424",
    "smtpd_recipient_restrictions": "reject_unverified_recipient",
    "address_verify_negative_expire_time": "15s",
    "address_verify_negative_refresh_time": "10s",
    "smtpd_tls_cert_file": "/etc/letsencrypt/live/x/fullchain.pem",
}


LACKING = (
    ("mydestination", f"localhost, {DOMAIN}", "mydestination = localhost"),
    ("recipient_delimiter", "", "recipient_delimiter = +"),
    ("virtual_mailbox_domains", "", f"virtual_mailbox_domains = {DOMAIN}"),
    ("virtual_transport", "virtual", "virtual_transport = lmtp:inet:127.0.0.1:2424"),
    ("smtpd_recipient_restrictions", "", "reject_unverified_recipient"),
    ("address_verify_negative_expire_time", "3d", "address_verify_negative_expire_time = 15s"),
    ("address_verify_negative_refresh_time", "2m", "address_verify_negative_refresh_time = 10s"),
    ("smtpd_tls_cert_file", "/etc/ssl/certs/ssl-cert-snakeoil.pem", "smtpd_tls_cert_file ="),
)


def test_each_line_that_postfix_lacks_is_named(tmp_path: Path) -> None:
    lines: dict[str, str] = {}
    with installation(
        tmp_path, healthy_zone(), postfix=lines, lmtp="127.0.0.1:2424", smtp=""
    ) as installed:
        for name, value, advice in LACKING:
            lines.update(POSTFIX | {name: value})
            findings = list(postfix.check(installed))
            assert any(advice in finding.advice for finding in findings), findings
        lines.update(POSTFIX)
        assert only(postfix.check(installed)).level is Level.OK


def _is_right(*arguments: object) -> AuthResult:
    data = arguments[-1]
    return AuthResult(success=getattr(data, "password", b"") == b"right", handled=False)


@pytest.fixture
def relay() -> Iterator[Sink]:
    """A relay that accepts one password."""
    with closing(Sink(authenticator=_is_right, auth_require_tls=False)) as sink:
        yield sink


def test_the_relay_is_asked_whether_it_lets_the_server_in(tmp_path: Path, relay: Sink) -> None:
    for password, level in (("right", Level.OK), ("wrong", Level.PROBLEM)):
        url = f"smtp://alice:{password}@127.0.0.1:{relay.port}"
        with installation(tmp_path, healthy_zone(), relay=url) as installed:
            finding = only(connections.relay(installed))
        assert finding.level is level, finding
        assert password not in finding.sentence
    with installation(tmp_path, healthy_zone(), relay=f"smtp://127.0.0.1:{free_port()}") as gone:
        assert only(connections.relay(gone)).level is Level.PROBLEM


def test_a_test_letter_is_signed(tmp_path: Path, relay: Sink) -> None:
    make_key("s2026", "rsa", tmp_path / "s2026.pem")
    with installation(
        tmp_path,
        healthy_zone(),
        relay=f"smtp://127.0.0.1:{relay.port}",
        dkim_keys=f"s2026={tmp_path / 's2026.pem'}",
    ) as sender:
        finding = trial_letter.send(sender, "me@elsewhere.net")
    assert finding.level is Level.OK, finding
    ((letter,),) = relay.taken.values()
    assert letter.lower().startswith(b"dkim-signature:")


def test_certificates_are_reported_three_weeks_ahead(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    for days, level in ((-1, Level.PROBLEM), (10, Level.WARNING), (60, Level.OK)):
        issued = trustme.CA().issue_cert(DOMAIN, not_after=now + timedelta(days=days))
        path = tmp_path / "certificate.pem"
        issued.private_key_and_cert_chain_pem.write_to_path(str(path))
        with installation(tmp_path, healthy_zone(), tls_cert=str(path)) as checked:
            assert only(certificates.check(checked)).level is level, days


@pytest.mark.parametrize(
    ("error", "advice"),
    [
        (socket.gaierror(-2, "Name or service not known"), "games.example. IN A (the public"),
        (ConnectionRefusedError(111, "Connection refused"), "Start your proxy"),
        (OSError("certificate has expired"), "Renew the certificate"),
    ],
    ids=["no name", "no proxy", "expired"],
)
def test_pages_that_cannot_be_opened_have_the_advice_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: OSError, advice: str
) -> None:
    def fail(*_: object) -> datetime:
        raise error

    monkeypatch.setattr(certificates, "served_certificate_end", fail)
    with installation(tmp_path, healthy_zone(), web_url="https://games.example") as checked:
        finding = only(certificates.check(checked))
    assert finding.level is Level.PROBLEM
    assert finding.advice.startswith(advice)


def test_a_pg_dump_that_is_too_old_for_copies_is_named(
    postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(databases, "first_line", lambda *_: "pg_dump (PostgreSQL) 12.22")
    with installation(tmp_path, healthy_zone(), database=postgres_url) as checked:
        finding = only(databases.check(checked))
    assert finding.level is Level.WARNING
    assert "and pg_dump is version 12, so `db backup` fails" in finding.sentence
    assert finding.advice.startswith("apt install postgresql-client-")


def test_the_age_of_the_newest_copy_is_known(tmp_path: Path) -> None:
    with installation(tmp_path, healthy_zone()) as checked:
        assert only(machine.backup(checked)).level is Level.WARNING
        backup = last_backup_file(checked.settings.data_dir)
        backup.touch()
        assert only(machine.backup(checked)).level is Level.OK
        week_ago = (datetime.now(UTC) - timedelta(days=7)).timestamp()
        os.utime(backup, (week_ago, week_ago))
        finding = only(machine.backup(checked))
        assert (finding.level, "7.0 days old" in finding.sentence) == (Level.WARNING, True)


@rows(
    ("free_gb", "total_gb", "level"),
    [
        (0.1, 100, Level.PROBLEM),
        (1, 100, Level.WARNING),
        (1, 5, Level.OK),  # a small disk of which a fifth is free
        (50, 1_000, Level.OK),  # a twentieth of a large disk is enough
    ],
)
def test_a_disk_is_nearly_full_by_its_share_and_by_its_octets(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    free_gb: float,
    total_gb: float,
    level: Level,
) -> None:
    usage = SimpleNamespace(free=free_gb * 1e9, total=total_gb * 1e9)
    monkeypatch.setattr(machine.shutil, "disk_usage", lambda _: usage)
    with installation(tmp_path, healthy_zone()) as checked:
        assert only(machine.disk(checked)).level is level


def test_silent_name_servers_hide_no_other_finding(tmp_path: Path) -> None:
    with installation(tmp_path, healthy_zone()) as healthy:
        pass  # the name server has stopped
    findings = examine(healthy)
    assert any(finding.subject == "Disk" for finding in findings)
    assert any("did not answer" in finding.sentence for finding in findings)
    assert worst(findings) is Level.PROBLEM


def test_a_check_that_breaks_hides_no_other_finding(tmp_path: Path) -> None:
    def broken(name: str) -> str:
        raise RuntimeError(f"no {name} today")

    with installation(tmp_path, healthy_zone()) as healthy:
        findings = examine(replace(healthy, postfix=broken))
    assert any(finding.subject == "Disk" for finding in findings)
    broken_checks = [finding for finding in findings if "check broke" in finding.sentence]
    assert {finding.level for finding in broken_checks} == {Level.WARNING}
    assert "RuntimeError: no myhostname today" in broken_checks[0].sentence


def test_the_command_tells_a_newcomer_what_is_missing(tmp_path: Path) -> None:
    environment = {**os.environ, "PBMSERV_DATA_DIR": str(tmp_path), "PBMSERV_SMTP": "127.0.0.1:9"}
    shown = run(["doctor"], environment)
    assert shown.returncode == Level.PROBLEM, shown
    assert "PROBLEM  SMTP port: Nothing answers at 127.0.0.1:9" in shown.stdout
    assert "→ systemctl start pbmserv" in shown.stdout
    as_json = run(["doctor", "--json"], environment)
    assert json.loads(as_json.stdout)["level"] == "problem"
