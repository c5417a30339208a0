"""Tables of small cases, each table one test.

For cases without side effects that take less time than pytest needs for a test of its own. The
message of a failure names all rows that fail.
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
    """Call a test once for each row, as `pytest.mark.parametrize` does, but in one test.

    Args:
        names: the name of the argument that a row fills in, or several names.
        cases: a value for each row, or a sequence of values for several names.
        ids: names of the rows for messages, or a function from a row's first value to its name;
            default: the values.
    """
    arguments = (names,) if isinstance(names, str) else tuple(names)
    table = [(case,) if isinstance(names, str) else tuple(case) for case in cases]
    if callable(ids):
        ids = [ids(case[0]) for case in table]
    row_names = list(map(repr, table)) if ids is None else list(map(str, ids))
    assert table, "no case at all"

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @wraps(test)
        def all_rows(*args: Any, **fixtures: Any) -> None:
            failed: dict[str, BaseException] = {}
            for name, values in zip(row_names, table, strict=True):
                try:
                    test(*args, **fixtures, **dict(zip(arguments, values, strict=True)))
                # `pytest.raises` fails with an exception that is not an Exception.
                except (Exception, pytest.fail.Exception) as error:  # noqa: BLE001
                    failed[name] = error
            if failed:
                lines = [f"{name}: {type(e).__name__}: {e}" for name, e in failed.items()]
                head = f"{len(failed)} of {len(table)} rows:"
                raise AssertionError("\n\n".join([head, *lines])) from next(iter(failed.values()))

        signature = inspect.signature(test)
        parameters = [p for name, p in signature.parameters.items() if name not in arguments]
        all_rows.__signature__ = signature.replace(parameters=parameters)
        return all_rows

    return decorate
