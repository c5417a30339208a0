"""The local mailbox: pages to read and write mail on, for people who try the server on one machine.

It shows the letters of all players. So it has a listener of its own, which only this machine can
reach, and a secret path. Pages of other sites can neither read it by DNS rebinding nor send mail
through it.
"""

from __future__ import annotations

from pathlib import Path

from jinja2 import Environment
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import Response
from starlette.routing import Route

from pbmserv.config.listen import Listen
from pbmserv.mail.key_ring import mailbox_secret
from pbmserv.mail.mail_domain import MailDomain
from pbmserv.outbound.relay_url import read_relay_url
from pbmserv.web.http.local_only import LocalOnly
from pbmserv.web.http.responses import CSS, PRIVATE, SCRIPT, SVG, file_route
from pbmserv.web.http.safe_responses import SAFE_HEADERS, SafeResponses
from pbmserv.web.limits.post_limits import LimitedPosts, PostLimits
from pbmserv.web.mailbox.mail_program import MailProgram
from pbmserv.web.mailbox.pages import MailboxHandlers

PAGE_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; script-src 'self'; connect-src 'self'; "
    "frame-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)

# With "no-referrer" browsers send "Origin: null" with forms.
_SAFE = SAFE_HEADERS | {"Content-Security-Policy": PAGE_POLICY, "Referrer-Policy": "same-origin"}


def build_mailbox(
    relay: str, smtp: Listen, mail_domain: MailDomain, templates: Environment
) -> Starlette:
    """Return the application of a listener on the loopback interface.

    Args:
        relay: the Maildirs, as in the setting.
        smtp: the listener for mail.
        mail_domain: the server's address and keys.
        templates: the templates of pages.
    """
    local = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - replaced, not bound
    reached = Listen(local.get(smtp.host, smtp.host), smtp.port)
    root = Path(read_relay_url(relay).path)
    program = MailProgram(root, f"smtp://{reached}", mail_domain.address)
    secret = mailbox_secret(mail_domain.ring)
    top = f"/{secret}"
    handlers = MailboxHandlers(program, f"{top}/", templates)
    limits = PostLimits((f"{top}/",), proxies=())
    person = top + "/{address}"

    def text_of(file: str) -> str:
        return templates.get_template(f"web/{file}").render()

    application = Starlette(
        routes=[
            Route(f"{top}/", handlers.people, methods=["GET", "POST"]),
            Route(f"{top}/news", handlers.unread_counts),
            file_route(f"{top}/style.css", text_of("style.css") + text_of("mailbox.css"), CSS),
            file_route(f"{top}/mailbox.js", text_of("mailbox.js"), SCRIPT),
            file_route(f"{top}/icon.svg", text_of("icon.svg"), SVG),
            Route(f"{person}/", handlers.letters),
            Route(f"{person}/write", handlers.write, methods=["GET", "POST"]),
            Route(f"{person}/{{key}}", handlers.letter),
            Route(f"{person}/{{key}}/html", handlers.frame),
        ],
        middleware=[
            Middleware(SafeResponses, fault=handlers.fault, headers=_SAFE),
            Middleware(LocalOnly, site_name="mailbox"),
            Middleware(LimitedPosts, limits=limits, refuse=too_many_forms),
        ],
        exception_handlers={HTTPException: handlers.refused},
    )
    application.router.redirect_slashes = False
    return application


def too_many_forms(seconds: int) -> Response:
    """Return 429: this machine has sent too many forms."""
    text = f"You have sent too many forms within a minute. Wait {seconds} s and send it again.\n"
    return Response(text, 429, PRIVATE, "text/plain")
