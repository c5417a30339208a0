"""Events and teams: lists, the tables of an event, and the members of a team."""

from __future__ import annotations

from starlette.routing import Route

from pbmserv.service.pages import event_pages
from pbmserv.web.http.url_parameters import group_of
from pbmserv.web.pages.public_routes import PublicRoutes


def event_routes(public: PublicRoutes) -> list[Route]:
    """Return the routes of these pages and their feeds; ``?group=13`` shows an event from that
    group on."""
    number = "/events/{number:nine_digits}"
    return [
        public.page("/events", "events", "events", event_pages.lines),
        public.page(number, "event", "words", event_pages.page, group_of),
        public.page("/teams", "teams", "teams", event_pages.teams_listed),
        public.page("/teams/{key}", "team", "page", event_pages.team_page),
        public.feed("/events.atom", "events", "events", event_pages.lines),
        public.feed(f"{number}.atom", "event", "words", event_pages.page, group_of),
    ]
