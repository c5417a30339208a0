"""A real nginx or Caddy with the configuration of deploy/, and a server of ours behind it."""

from __future__ import annotations

import os
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse, HTTPSConnection
from pathlib import Path

import trustme
from programs import PATIENCE_S, free_port, program, wait_for_port

DEPLOY = Path(__file__).parents[2] / "deploy"
NAME = "games.example.org"


@dataclass(frozen=True)
class Proxy:
    """A running proxy.

    Attributes:
        port: where it takes HTTPS.
        plain_port: where it takes HTTP; 0 = nowhere.
        folder: where it writes its logs.
    """

    port: int
    plain_port: int
    folder: Path
    trusted: ssl.SSLContext

    def ask(self, path: str, method: str = "GET", body: str = "") -> tuple[HTTPResponse, str]:
        """The answer to one request, and its text."""
        with self._answer(path, method, body) as answer:
            return answer, answer.read().decode()

    def status(self, path: str, body: str) -> int:
        """Of the answer to a form. Its text is not asked for: a proxy may break it off."""
        with self._answer(path, "POST", body) as answer:
            return answer.status

    @contextmanager
    def _answer(self, path: str, method: str, body: str) -> Iterator[HTTPResponse]:
        connection = HTTPSConnection(NAME, self.port, timeout=PATIENCE_S, context=self.trusted)
        raw = socket.create_connection(("127.0.0.1", self.port), PATIENCE_S)
        connection.sock = self.trusted.wrap_socket(raw, server_hostname=NAME)
        try:
            form = {"Content-Type": "application/x-www-form-urlencoded"} if body else {}
            connection.request(method, path, body or None, form)
            yield connection.getresponse()
        finally:
            connection.close()

    def written(self) -> str:
        """The text of its logs."""
        return "".join(path.read_text() for path in self.folder.rglob("*.log"))


@contextmanager
def nginx(folder: Path, web_port: int) -> Iterator[Proxy]:
    """Start nginx with ``deploy/nginx/pbmserv.conf`` in an otherwise empty configuration."""
    command = program("nginx")
    proxy = _proxy(folder, free_port())
    text = (DEPLOY / "nginx" / "pbmserv.conf").read_text()
    for old, new in (
        (r"listen \[::\].*\n", "\n"),
        (r"listen 80;", f"listen 127.0.0.1:{proxy.plain_port};"),
        (r"listen 443 ssl;", f"listen 127.0.0.1:{proxy.port} ssl;"),
        (r"/etc/letsencrypt/live/[^/]+", str(folder)),
        (r"/var/log/nginx", str(folder)),
        (r"127\.0\.0\.1:8025", f"127.0.0.1:{web_port}"),
    ):
        text, changes = re.subn(old, new, text)
        assert changes, old
    places = " ".join(
        f"{name}_temp_path {folder}/{name};"
        for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    main = folder / "nginx.conf"
    main.write_text(
        f"daemon off; pid {folder}/nginx.pid; worker_processes 1; error_log {folder}/main.log;\n"
        f"events {{}}\nhttp {{ access_log off; {places}\n{text}\n}}\n"
    )
    base = [command, "-p", str(folder), "-c", str(main)]
    tested = subprocess.run([*base, "-t"], capture_output=True, text=True, check=False, timeout=60)
    assert tested.returncode == 0, tested.stderr
    assert "[warn]" not in tested.stderr, tested.stderr
    with _running(base, proxy, {}):
        yield proxy


@contextmanager
def caddy(folder: Path, web_port: int) -> Iterator[Proxy]:
    """Start Caddy with ``deploy/caddy/Caddyfile``, and a certificate that it need not fetch."""
    command = program("caddy")
    proxy = _proxy(folder, 0)
    text = (DEPLOY / "caddy" / "Caddyfile").read_text()
    files = f"\ttls {folder}/fullchain.pem {folder}/privkey.pem\n\tbind 127.0.0.1\n"
    for old, new in (
        (r"(?m)^\{$", "{\n\tadmin off\n\tauto_https disable_redirects\n"),
        (rf"(?m)^{re.escape(NAME)} \{{$", f"https://{NAME}:{proxy.port} {{\n{files}"),
        (r"(?m)^(\t?)reverse_proxy 127\.0\.0\.1:8025", rf"\1reverse_proxy 127.0.0.1:{web_port}"),
    ):
        text, changes = re.subn(old, new, text)
        assert changes == 1, old
    main = folder / "Caddyfile"
    main.write_text(text)
    places = {"XDG_DATA_HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "HOME": str(folder)}
    arguments = ["--config", str(main), "--adapter", "caddyfile"]
    for path in (str(main), str(DEPLOY / "caddy" / "Caddyfile")):
        tested = subprocess.run(
            [command, "adapt", "--config", path, "--adapter", "caddyfile"],
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**os.environ, **places},
        )
        assert tested.returncode == 0, tested.stderr
    with _running([command, "run", *arguments], proxy, places):
        yield proxy


def _proxy(folder: Path, plain_port: int) -> Proxy:
    """Its ports and its certificate."""
    authority = trustme.CA()
    certificate = authority.issue_cert(NAME)
    certificate.private_key_pem.write_to_path(folder / "privkey.pem")
    for part in certificate.cert_chain_pems:
        part.write_to_path(folder / "fullchain.pem", append=True)
    trusted = ssl.create_default_context()
    authority.configure_trust(trusted)
    return Proxy(free_port(), plain_port, folder, trusted)


@contextmanager
def _running(command: list[str], proxy: Proxy, places: dict[str, str]) -> Iterator[None]:
    with (
        (proxy.folder / "output.log").open("wb") as output,
        subprocess.Popen(
            command, env={**os.environ, **places}, stdout=output, stderr=output
        ) as process,
    ):
        try:
            wait_for_port(proxy.port, lambda: proxy.written() if process.poll() else None)
            yield
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
