"""Tables of small cases, each table one test.

pytest takes longer to tell cases apart than most of them take. Where a case is a line of text and
nothing is left behind, all of a table are held against the rule in one test; the rows that fail
are told by name, all of them.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import Any

import pytest


def rows(
    names: str | Sequence[str],
    cases: Iterable[Any],
    ids: Iterable[Any] | Callable[[Any], object] | None = None,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `pytest.mark.parametrize`, in one test; not where a case changes what its fixtures gave.

    Args:
        names: of the test's arguments that a row fills in: one, or several.
        cases: a value for each row, or several where there are several names.
        ids: what each row is called where it fails, or a function that tells it of a row's first
            value; default: its values.
    """
    arguments = (names,) if isinstance(names, str) else tuple(names)
    table = [(case,) if isinstance(names, str) else tuple(case) for case in cases]
    if callable(ids):
        ids = [ids(case[0]) for case in table]
    told = list(map(repr, table)) if ids is None else list(map(str, ids))
    assert table, "no case at all"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def all_rows(*args: Any, **fixtures: Any) -> None:
            failed: dict[str, BaseException] = {}
            for name, values in zip(told, table, strict=True):
                try:
                    test(*args, **fixtures, **dict(zip(arguments, values, strict=True)))
                # All of them are told below; what `pytest.raises` misses is no Exception.
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                    failed[name] = error
            if failed:
                said = [f"{name}: {type(one).__name__}: {one}" for name, one in failed.items()]
                head = f"{len(failed)} of {len(table)} rows:"
                raise AssertionError("\n\n".join([head, *said])) from next(iter(failed.values()))

        whole = inspect.signature(test)
        left = [one for name, one in whole.parameters.items() if name not in arguments]
        all_rows.__signature__ = whole.replace(parameters=left)
        return all_rows

    return decorate
