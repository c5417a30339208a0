"""How the processes of a server share its processors."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Collection, Sequence

from pbmserv.stages.preflight import stage_of_process

NICE = {"post": 2, "play": 7, "bots": 10}
"""How much each gives way to the door, where a client waits; play to post, which is done last."""

PLACES = {"door": 0, "play": 0, "post1": 1}
"""Which of two processors each keeps to (docs/decisions/0102)."""


def take_place(name: str, stages: Collection[str]) -> Callable[[bool], None]:
    """Give way to others, and keep to a processor, as a process of this name does; *stages* are the
    names of all that run on this machine.

    Returns:
        Keeps the thread that calls it to that processor, or, with false, to no other than before.
        The door begins so, and keeps to its processor while clients crowd.
    """
    with contextlib.suppress(OSError):  # where a sandbox forbids it, all have one priority
        os.nice(NICE.get(stage_of_process(name), 0))
    usable: Sequence[int] = ()
    with contextlib.suppress(AttributeError, OSError):  # not on Linux; or it is forbidden
        usable = sorted(os.sched_getaffinity(0))
    kept = kept_to(name, stages, usable)

    def keep(is_bound: bool) -> None:
        if kept != usable:  # whoever is never bound can be given more processors later
            with contextlib.suppress(OSError):  # forbidden
                os.sched_setaffinity(0, kept if is_bound else usable)

    if name != "door":
        keep(True)
    return keep


def kept_to(name: str, stages: Collection[str], usable: Sequence[int]) -> Sequence[int]:
    """Which of the usable processors a process keeps to.

    Of two post has one, and the door and play the other: what post takes is about what both of
    those take. Among more, or beside other posts, the system finds room by itself.
    """
    shared = len(usable) == 2 and PLACES.keys() <= set(stages) and "post2" not in stages
    return [usable[PLACES[name]]] if shared and name in PLACES else usable
