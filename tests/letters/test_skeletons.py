"""A letter that is filled in says what its templates say, and nothing of another reader's."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest
from both_ways import both_ways
from indoors import address_of, indoors
from rows import rows

from pbmserv.letters.environment import LetterEnvironment, environment
from pbmserv.letters.skeletons import Fork, Shapes, Skeletons
from pbmserv.letters.tracing import Untraceable

ALICE = address_of("alice")

TEMPLATES = {
    "prints": "{{ name }}: {{ count }}, {{ words|length }}",
    "branches": "{% if count > 2 %}many{% elif count %}{{ count }}{% else %}none{% endif %}",
    "compares": "{{ 'me' if name == 'ann' else name }}{{ count == 1 == words|length }}",
    "joins": "{{ ('To ' ~ name ~ ', ' ~ count ~ ' times: ' ~ words|join('; '))|sentence }}",
    "loops": "{% for w in words if w != name %}{{ loop.index }}{{ w }}{{ ',' if not loop.last }}"
    "{% else %}nobody{% endfor %}",
    "unpacks": "{% for key, value in pairs|dictsort %}{{ key }}={{ value }} {% endfor %}",
    "looks up": "{{ pairs.ann }} {{ pairs.bob|default('-') }} {{ pairs['ann'] }} {{ words[0][:2] }}"
    "{{ ' here' if 'ann' in words }}{{ ' defined' if pairs.bob is defined }}",
    "captures": "{% set line %} {{ name }} {% endset %}{% if line|trim %}<{{ line|trim|upper }}>"
    "{% endif %}{{ line|length }}",
    "calls": "{% macro twice(x, y='-') %}{{ x }}{{ y }}{{ x }}{% endmacro %}"
    "{{ twice(name) }}{{ twice(words|first, count) }}{{ name.upper() }}{{ '|'.join(words) }}",
    "chooses": "{{ {'a': words, 'b': [name]}['a' if count else 'b']|listing }}",
    "tells": "{% set place = {1: 'first', 2: 'second'}.get(count, count ~ 'th') %}"
    "{{ ' came ' ~ place if place }}{% if words|length > 2 %} of many{% endif %}",
    "counts": "{{ count + 1 }} {{ 2 * (count - 1) }} {{ -count }} {{ 7 % (count + 1) }} "
    "{{ '%-5s'|format(name) }}|{{ range(count)|list }}",
    "gathers": "{% set ns = namespace(all=[]) %}"
    "{% for w in words %}{% set ns.all = ns.all + [w|upper] %}{% endfor %}"
    "{{ ns.all|join('/') }}{{ words|reject('equalto', name)|list|length }}"
    "{{ words|map('upper')|join }}{% for two in words|batch(2) %}[{{ two|join }}]{% endfor %}",
    "filters": "{% filter upper %}{{ name }} and {{ count or 'no' }}{% endfilter %}",
}  # fmt: skip

VALUES = (
    {"name": "ann", "count": 0, "words": ["ann", "bob"], "pairs": {"ann": 1}},
    {"name": "<b>", "count": 1, "words": ["x & y"], "pairs": {"ann": "&", "bob": 2}},
    {"name": "", "count": 3, "words": ["", "cy", "<i>"], "pairs": {"ann": "", "cy": 0}},
    {"name": "bob", "count": 2, "words": ["bob", "ann", "cy", "d"], "pairs": {"ann": 7}},
    {"name": "eve", "count": 2, "words": ["eve", "ann", "cy", "<d>"], "pairs": {"ann": 8}},
)


def drawing(templates: LetterEnvironment, source: str, values: Mapping[str, Any]) -> Sequence[Any]:
    """Draws a template, and once more where values are escaped."""
    both = []
    for text in (source, f"{{% autoescape true %}}{source}{{% endautoescape %}}"):
        template = templates.from_string(text)
        both.append(templates.concat(template.root_render_func(template.new_context(values))))
    return both


@pytest.mark.slow
@rows("source", TEMPLATES.values(), ids=TEMPLATES.keys())
def test_what_one_rendering_taught_serves_the_next(source: str) -> None:
    plain = [tuple(drawing(environment(), source, values)) for values in VALUES]
    for order in list(permutations(range(len(VALUES))))[::17]:
        shapes = Shapes(len(VALUES[0]))
        for at in order:
            found = shapes.filled(VALUES[at])
            if type(found) is not tuple:
                assert shapes.learn(drawing, source, VALUES[at]) == plain[at]
                found = shapes.filled(VALUES[at])
            assert found == plain[at]
        assert [shapes.filled(values) for values in VALUES] == plain


def test_values_of_the_same_shape_need_no_second_rendering() -> None:
    for name in ("prints", "joins", "calls", "counts", "captures"):
        shapes = Shapes(len(VALUES[0]))
        shapes.learn(drawing, TEMPLATES[name], VALUES[3])
        assert shapes.filled(VALUES[4]) == tuple(drawing(environment(), TEMPLATES[name], VALUES[4]))


@pytest.mark.slow
@rows(
    "source",
    [
        "{{ '%s' % name }}",
        "{{ {'ann': 1, 'bob': 2, '': 3}[name] if 0 else ({name: 1}|length) }}",
        "{% set found = [] %}{{ found.append(name) }}{{ found|length }}",
    ],
)
def test_what_cannot_be_followed_is_rendered_the_plain_way(source: str) -> None:
    with pytest.raises(Untraceable):
        Shapes(4).learn(drawing, source, VALUES[0])
    skeletons = Skeletons()
    for _ in range(5):
        for values in VALUES[:4]:
            plain = drawing(environment(), source, values)
            assert list(skeletons.texts(drawing, source, values)) == plain
    assert skeletons.filled == 0
    assert skeletons.failed[source] >= 3


def test_a_way_is_traced_when_it_comes_once_more_and_ways_that_never_do_are_not() -> None:
    skeletons = Skeletons()
    source = "{% for w in words %}{{ w }}{% endfor %}"
    for length in range(1, 120):
        values = {"words": ["x"] * length}
        assert skeletons.texts(drawing, source, values)[0] == "x" * length
    assert skeletons.filled == 0
    for letter in "abcdef":
        assert skeletons.texts(drawing, source, {"words": [letter] * 9})[0] == letter * 9
    assert skeletons.filled > 0


def test_what_is_very_long_is_never_traced_and_leaves_nothing() -> None:
    skeletons = Skeletons()
    source = "{% for w in words %}{{ w }}{% endfor %}"
    for words in (["a"] * 2_000, ["b"] * 2_000, ["c"] * 2_000):
        assert skeletons.texts(drawing, source, {"words": words})[0] == "".join(words)
    (shapes,) = skeletons._shapes.values()
    assert not shapes.expressions.all
    assert not shapes.expressions._numbers
    for letter in "abc":
        assert skeletons.texts(drawing, source, {"words": [letter] * 9})[0] == letter * 9
    assert skeletons.filled == 2
    assert not skeletons.failed


def test_a_value_that_fails_in_a_skeleton_fails_as_in_its_template() -> None:
    skeletons = Skeletons()
    source = "{{ (12 // count) ~ name }}"
    for _ in range(4):
        skeletons.texts(drawing, source, VALUES[3])
    assert skeletons.filled > 0
    with pytest.raises(ZeroDivisionError):
        skeletons.texts(drawing, source, VALUES[0])


def kept(shapes: Shapes) -> Iterator[Any]:
    """All that a skeleton is made of."""
    for expression in shapes.expressions.all:
        yield expression.parts
    yield {name: found for name, found in shapes.constants.items() if name != "__builtins__"}
    left = list(shapes.begins.values())
    while left:
        at = left.pop()
        yield at.lines
        if isinstance(at, Fork):
            yield list(at.ways)
            left += at.ways.values()


SECRET = {
    "name": "b3,d3,secret", "count": 987_654_321, "words": ["secret", "secret-two"],
    "pairs": {"ann": "secret-three"},
}  # fmt: skip


@rows("source", [text for text in TEMPLATES.values() if "range" not in text])
def test_nothing_of_a_letter_stays_in_its_skeleton(source: str) -> None:
    shapes = Shapes(len(SECRET))
    shapes.learn(drawing, source, SECRET)
    shapes.filled(SECRET)
    told = repr(list(kept(shapes)))
    assert "secret" not in told
    assert "987654321" not in told


def test_a_text_that_many_ways_have_in_common_is_kept_once() -> None:
    shapes, text = Shapes(len(VALUES[0])), "what each of them says, " * 9
    source = f"{text}{{% for w in words %}}{{{{ w }}}}{{% endfor %}}"
    for length in range(1, 9):
        values = VALUES[0] | {"words": ["x"] * length}
        shapes.learn(drawing, source, values)
        shapes.filled(values)
    assert list(shapes.constants.values()).count(text) == 1


@pytest.mark.slow
def test_letters_of_random_games_are_the_same_both_ways(tmp_path: Path) -> None:
    chance = random.Random(13)
    with both_ways() as ways, indoors(tmp_path) as server:
        server.sign_up("alice", "bob")
        asked, own = server.send(ALICE, "blackbox challenge bob alice -atoms=3")
        newest = {asked.recipient: asked, own.recipient: own}
        server.reply(asked, "accept")
        opening = {ALICE: "a1,b2,c3", address_of("bob"): "g7,b2,c3"}
        for turn in range(24):
            who = list(opening)[turn % 2]
            port, cell = chance.choice("abcdefghijklmn"), chance.choice(("b3", "c5", "g7", "a1"))
            wild = chance.choice((port, f"+{cell}", f"!{cell}", f"{port},+{cell}"))
            move = wild if turn > 1 else opening[who]
            letters = server.reply(newest[who], f"{move}\n\nHello <you> & {turn}.")
            newest |= {letter.recipient: letter for letter in letters}
    assert ways.drawn > 20
    assert not ways.differ
    assert not ways.refused
