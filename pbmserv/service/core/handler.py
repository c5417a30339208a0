"""The type of functions that carry out commands."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from pbmserv.commands.table.command_types import Command
from pbmserv.service.core.context import CommandContext
from pbmserv.service.core.outcome import Answer

Handler: TypeAlias = Callable[[CommandContext, Any], Answer]
"""Carries out a command of the type under which it is listed.

Raises `PlayerError` if the command is refused."""

Handlers: TypeAlias = Mapping[type[Command], Handler]
"""The handler of each type of command."""
