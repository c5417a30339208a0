"""The stack that a process writes when its parent asks for it."""

from __future__ import annotations

import multiprocessing
import threading
from multiprocessing.connection import Connection

from pbmserv.stages.stacks import StackFile

WAIT_S = 60.0
STACK = StackFile()  # open until the process ends, as that of a supervisor


def play_two_games(to_parent: Connection) -> None:
    """Run in the child: the main thread and another one are both in a game."""
    STACK.write_when_asked()
    threading.Thread(target=play_chess, args=(to_parent,), daemon=True).start()
    play_go()


def play_chess(to_parent: Connection) -> None:
    to_parent.send(threading.get_native_id())
    threading.Event().wait(WAIT_S)


def play_go() -> None:
    threading.Event().wait(WAIT_S)


def test_the_stack_is_that_of_the_thread_that_was_asked() -> None:
    fork = multiprocessing.get_context("fork")
    from_child, to_parent = fork.Pipe(duplex=False)
    child = fork.Process(target=play_two_games, args=(to_parent,))
    child.start()
    try:
        assert child.pid is not None
        assert from_child.poll(WAIT_S)
        thread = from_child.recv()
        assert STACK.frames() == []
        for number, game in ((thread, "play_chess"), (child.pid, "play_go")):
            while not STACK.frames():  # a busy machine may take longer than `ask` waits
                STACK.ask(child.pid, number)
            games = [f.function for f in STACK.frames() if f.function.startswith("play_")]
            assert games[0] == game
            STACK.clear()
            assert STACK.frames() == []
    finally:
        child.kill()
        child.join()
        child.close()
        from_child.close()
        to_parent.close()
