"""Tables of teams: their names, and their members in the order of the boards."""

from __future__ import annotations

from enum import StrEnum

from sqlalchemy import Boolean, Column, ForeignKey, SmallInteger, String, Table, false

from pbmserv.store.tables.columns import Instant, Key, metadata, state_type


class MemberStatus(StrEnum):
    """The status of a player in a team.

    Attributes:
        INVITED: the captain has asked the player.
        MEMBER: the player plays for the team.
        DECLINED: the player has said no.
    """

    INVITED = "invited"
    MEMBER = "member"
    DECLINED = "declined"


teams = Table(
    "teams",
    metadata,
    Column("id", Key, primary_key=True),
    Column("name", String(40), nullable=False),
    Column("key", String(40), nullable=True, unique=True),
    Column("captain_id", ForeignKey("players.id"), nullable=False),
    Column("created_at", Instant, nullable=False),
    Column("due_at", Instant, nullable=True, index=True),
)
"""Teams. `key`: the name as it is compared and as pages are called. `due_at`: time of the next
daily check. Both are null for a team whose members have all left."""

team_members = Table(
    "team_members",
    metadata,
    Column("team_id", ForeignKey("teams.id"), primary_key=True),
    Column("player_id", ForeignKey("players.id"), primary_key=True, index=True),
    Column("status", state_type(MemberStatus, 10), nullable=False),
    Column("place", SmallInteger, nullable=True),
    Column("muted", Boolean, nullable=False, server_default=false()),
    Column("since", Instant, nullable=False),
    Column("active_at", Instant, nullable=False),
)
"""Players of teams, and those who were invited. `place`: in the order of the boards, from 1; null
until the captain has named it. `active_at`: a time at which the player was active, perhaps not the
last one. `muted`: the player wants no words and news of the team."""
