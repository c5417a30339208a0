"""The options of a `pbmserv.game.Game`: read from a challenge, and written as words again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from pbmserv.engine.record import DUPLICATE
from pbmserv.errors import OptionError
from pbmserv.game import Game, Option

_UNRATED = Option("unrated", "the result changes no ratings", (False, True), False, rated=False)
DUPLICATE_OPTION = DUPLICATE.removeprefix("-"), True
"""The option of boards of a duplicate event and its value, on such boards alone."""
SERVER_OPTIONS = frozenset({_UNRATED.name, DUPLICATE_OPTION[0]})
_YES = frozenset({"yes", "true", "on", "1"})
_NO = frozenset({"no", "false", "off", "0"})

Settings: TypeAlias = Mapping[str, Any]
"""The value of each option of a board, by its name."""


class GameOptions:
    """The options of a game, and the server's own.

    Attributes:
        described: the form and the meaning of each option, for help.
    """

    def __init__(self, rules: Game[Any]) -> None:
        self._key, self._title = rules.key, rules.title
        self._options = (*rules.options, _UNRATED)
        self.described = tuple((_form(option), _meaning(option)) for option in self._options)

    def read(self, words: Sequence[str], *, is_duplicate: bool) -> Settings:
        """Return the values of all options of a challenge.

        Args:
            is_duplicate: whether the words are those of a board of a duplicate event.

        Raises:
            OptionError: a word is not an option, a value does not belong to it, or an option has
                two values.
        """
        first_words: dict[str, str] = {}
        values = {option.name: option.default for option in self._options}
        options_by_name = {option.name.casefold(): option for option in self._options}
        for word in words:
            if is_duplicate and word == DUPLICATE:
                continue
            name, sign, text = word.removeprefix("-").partition("=")
            option = options_by_name.get(name.casefold())
            if option is None or not word.startswith("-"):
                forms = ", ".join(form for form, _ in self.described)
                raise self._refused("no-option", word, options=forms)
            value = self._value(option, word, text if sign else None)
            first = first_words.setdefault(option.name, word)
            if first != word and value != values[option.name]:
                raise self._refused("option-repeated", word, first=first, example=first)
            values[option.name] = value
        if is_duplicate:
            values.update([DUPLICATE_OPTION])
        return values

    def _value(self, option: Option, word: str, text: str | None) -> Any:
        if _is_switch(option):
            if text is None or text.casefold() in _YES:
                return True
            if text.casefold() in _NO:
                return False
        for value in option.values:
            if text is not None and str(value).casefold() == text.casefold():
                return value
        raise self._refused("no-value", word, option=option.name, values=_values(option))

    def _refused(self, code: str, part: str, **values: str) -> OptionError:
        return OptionError(f"{self._key}.{code}", part=part, title=self._title, **values)

    def words_of(self, settings: Settings) -> tuple[str, ...]:
        """Return the words of all options that differ from their defaults."""
        changed = [option for option in self._options if settings[option.name] != option.default]
        words = tuple(_word(option, settings[option.name]) for option in changed)
        return (*words, DUPLICATE) if DUPLICATE_OPTION in settings.items() else words

    def are_rated(self, settings: Settings) -> bool:
        """Return whether a board with these options changes ratings."""
        return all(
            option.rated or settings[option.name] == option.default for option in self._options
        )


def _is_switch(option: Option) -> bool:
    return all(isinstance(value, bool) for value in option.values)  # 0 and 1 are numbers


def _word(option: Option, value: Any) -> str:
    if value is True:
        return f"-{option.name}"
    return f"-{option.name}={'no' if value is False else value}"


def _form(option: Option) -> str:
    if _is_switch(option):
        return f"-{option.name}" + ("=no" if option.default else "")
    return f"-{option.name}={option.name.upper()}"


def _meaning(option: Option) -> str:
    if _is_switch(option):
        return f"turns this off: {option.help}" if option.default else option.help
    return f"{option.help}: {_values(option)} (default {option.default})"


def _values(option: Option) -> str:
    values = option.values
    if isinstance(values, range) and values.step == 1:
        return f"{values[0]} to {values[-1]}"
    return ", ".join(map(str, values))
