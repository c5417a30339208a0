"""What stands beside the board: facts about the game, and what happened last."""

from __future__ import annotations

from pbmserv.games.blackbox.options import MOST_GUESSES
from pbmserv.games.blackbox.practice import Practice, Scoring, opened
from pbmserv.games.blackbox.rays import HIT
from pbmserv.games.blackbox.views import BoxView


def facts(practice: Practice, seconds: int) -> str:
    """The state of the game in a few lines."""
    options, box = practice.options, practice.view.boxes[0]
    lines = [
        f"{options.width}x{options.height}, {_atoms(options.atoms)}",
        "",
        f"Markers  {_markers(len(box.markers), options.least, options.most)}",
        f"Guesses  {_guesses(box.guesses_left)}",
        f"Ports    {sum(map(bool, box.marks))} of {len(box.marks)} show a mark",
        f"Time     {seconds // 60}:{seconds % 60:02}",
    ]
    if practice.scoring is not Scoring.PRACTICE:
        lines.append(f"Score    {practice.score(seconds).total} ({practice.scoring})")
    return "\n".join(lines)


def ending(practice: Practice, seconds: int) -> list[str]:
    """How it ended, and how the score came about."""
    outcome = practice.state.outcome
    if outcome is None:
        return []
    said = {
        "solved": "The box is solved.",
        "out-of-guesses": "That was the last guess.",
        "resigned": "The box is open.",
    }
    lines = [said.get(outcome.reason, "It is over.")]
    missed = opened(practice)
    ports = practice.options.board.ports
    if missed.contradicted:
        named = ", ".join(ports[port] for port in sorted(missed.contradicted))
        lines.append(f"Your markers contradict {named}.")
    elif missed.telling:
        named = " and ".join(ports[port] for port in sorted(missed.telling))
        lines.append(f"{named} would have told your markers from the atoms.")
    if practice.scoring is not Scoring.PRACTICE:
        if outcome.reason == "resigned":
            lines.append("Given up, so there is no score.")
        else:
            lines += _items(practice, seconds)
    return lines


def test_ray(box: BoxView, port: int, found: int) -> str:
    """What a ray into a fired port does among the markers, beside what the mark there says."""
    label, ports = box.board.ports[port], box.board.ports
    told = box.result(port)
    mine = "#" if found == HIT else "%" if found == port else ports[found]
    went = {"#": "is absorbed", "%": "comes back"}
    was = {"#": "it was absorbed", "%": "it came back"}
    said = f"Through your markers a ray into {label} {went.get(mine, f'comes out at {mine}')}"
    if mine == told:
        return f"{said}, as it did."
    return f"{said}, but {was.get(told, f'it came out at {told}')}."


def _items(practice: Practice, seconds: int) -> list[str]:
    score = practice.score(seconds)
    if practice.scoring is Scoring.TIMED:
        items = [(score.ports, "port", 15), (score.faults, "wrong marker", 50)]
        items.append((score.seconds, "second", 1))
    else:
        items = [(score.hits, "hit", 1), (score.reflections, "reflection", 1)]
        items += [(score.detours, "detour", 2), (score.wrong, "wrong atom", 5)]
    counted = ", ".join(
        f"{count} {name}{'' if count == 1 else 's'} ({count * each})"
        for count, name, each in items
        if count
    )
    return [f"Score: {score.total} = {counted or 'nothing fired'}"]


def _atoms(count: str) -> str:
    if "-" in count:
        return f"{count.replace('-', ' to ')} atoms"
    return f"{count} atom{'' if count == '1' else 's'}"


def _markers(have: int, least: int, most: int) -> str:
    if have < least:
        return f"{have}, {least - have} missing"
    return f"{have}, {have - most} too many" if have > most else f"{have}, ready to guess"


def _guesses(left: int) -> str:
    return "as many as you like" if left > MOST_GUESSES // 2 else f"{left} left"
