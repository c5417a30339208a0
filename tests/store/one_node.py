"""Decides whether a statement asks one node of a distributed PostgreSQL.

It reads the SQL text that the driver gets, with sqlglot.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

import sqlglot
from sqlglot import exp

_PARAMETER = re.compile(r"%\((\w+)\)s")


def reason_to_ask_others(statement: str, keys: Mapping[str, str]) -> str:
    """Return why a statement asks more than one node, `""` if it does not.

    Args:
        keys: column by which each divided table is divided; each node has all other tables.
    """
    if not any(name in statement for name in keys):
        return ""
    tree = _parsed(statement)
    divided = {
        table.alias_or_name: table.name for table in tree.find_all(exp.Table) if table.name in keys
    }
    if isinstance(tree, exp.Insert):
        target = tree.this.this.name
        is_numbered = keys.get(target) == "id"  # by a sequence, before the row goes to its node
        if target in keys and not is_numbered and not _names_key(tree, keys[target]):
            return f"a new row of {target} does not say its {keys[target]}"
        if isinstance(tree.expression, exp.Values):
            return ""
        divided.pop(target, None)
    pinned = _pinned(tree, {(alias, keys[name]) for alias, name in divided.items()})
    free = sorted(name for alias, name in divided.items() if (alias, keys[name]) not in pinned)
    if free:
        return f"{', '.join(free)} without a value for {', '.join(keys[name] for name in free)}"
    groups = {"board_id" if keys[name] == "id" else keys[name] for name in divided.values()}
    return f"tables are divided differently: {sorted(groups)}" if len(groups) > 1 else ""


@cache
def _parsed(statement: str) -> exp.Expression:
    """Return the tree of a statement, which nobody changes: most games send the same statements."""
    return sqlglot.parse_one(_PARAMETER.sub(r":\1", statement), dialect="postgres")


def _names_key(insert: exp.Insert, key: str) -> bool:
    """Return whether an insert fills the key, from a value or from the key of another row."""
    columns = [column.name for column in insert.this.expressions]
    if key not in columns:
        return False
    source = insert.expression
    if isinstance(source, exp.Values):
        return True
    value = source.expressions[columns.index(key)].unalias()
    return isinstance(value, exp.Column) and value.name == key


def _pinned(tree: exp.Expression, wanted: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """Return the *wanted* columns (table or alias, and column) that equal a value."""
    pinned: set[tuple[str, str]] = set()
    pairs: list[set[tuple[str, str]]] = []
    for equality in _equalities(tree):
        sides = [
            side.this if isinstance(side, exp.Cast) else side for side in equality.args.values()
        ]
        columns = {(side.table, side.name) for side in sides if isinstance(side, exp.Column)}
        if any(isinstance(side, exp.Placeholder | exp.Literal) for side in sides):
            pinned |= columns & wanted
        elif len(columns) == 2:
            pairs.append(columns)
    for _ in pairs:
        for pair in pairs:
            if pair & pinned:
                pinned |= pair & wanted
    return pinned


def _equalities(tree: exp.Expression) -> Iterator[exp.EQ]:
    """Yield the equalities that hold for each row: not those below OR, NOT or in values."""
    for condition in (*tree.find_all(exp.Where), *tree.find_all(exp.Join)):
        whole = condition.this if isinstance(condition, exp.Where) else condition.args.get("on")
        parts = [] if whole is None else [whole]
        while parts:
            part = parts.pop().unnest()
            if isinstance(part, exp.And):
                parts += [part.left, part.right]
            elif isinstance(part, exp.EQ):
                yield part
