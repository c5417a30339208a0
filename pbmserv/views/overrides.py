"""Templates of an operator, which override the shipped ones of the same name.

They are in a folder of their own, which an upgrade does not change. Each is checked before it is
used, since a later version may require more of a template. If a template has a fault, the fault is
reported, and the shipped template is used.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path

from jinja2 import TemplateSyntaxError, meta, nodes

from pbmserv.errors import OperatorError
from pbmserv.files import read_octets
from pbmserv.views.environment import environment, environment_of, loader_of, templates_root
from pbmserv.views.template_loader import TemplateLoader


@dataclass(frozen=True, slots=True)
class Fault:
    """The reason why a template of the operator is not used.

    Attributes:
        line: 0 if the reason is not in one line.
    """

    file: Path
    line: int
    why: str

    def __str__(self) -> str:
        place = f"{self.file}, line {self.line}" if self.line else str(self.file)
        return f"{place}: {self.why}; the shipped template is used"


@dataclass(frozen=True, slots=True)
class Checked:
    """The templates in a folder: those that can be used, by name, and the faults of the others."""

    usable: Mapping[str, Path]
    faults: tuple[Fault, ...]


class _Fault(Exception):
    """Raised by a check: the line of the fault, and the reason."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(why)
        self.line, self.why = line, why


def use(folder: Path) -> tuple[Fault, ...]:
    """Use the templates in *folder* in this process and its forks, before any template is loaded.

    Raises:
        OperatorError: the folder cannot be read.
    """
    checked = check(folder)
    loader_of(environment()).overrides = checked.usable
    return checked.faults


def shipped_names() -> list[str]:
    """Return the names of all templates that can be replaced."""
    return _Shipped().names


def shipped_text(name: str) -> str:
    """Return the text of a shipped template.

    Raises:
        OperatorError: there is no shipped template of that name.
    """
    shipped = _Shipped()
    if name not in shipped.names:
        raise OperatorError(shipped.no_such_name(name))
    return shipped.text(name)


def check(folder: Path) -> Checked:
    """Check all templates in *folder*, except files whose names begin with a dot.

    Raises:
        OperatorError: the folder cannot be read.
    """
    try:
        files = sorted(_files(folder))
    except OSError as error:
        raise OperatorError(
            f"PBMSERV_TEMPLATES = {folder}: {error.strerror or error}; "
            "name a folder that the server can read"
        ) from None
    shipped = _Shipped()
    usable: dict[str, Path] = {}
    faults = []
    for file in files:
        name = file.relative_to(folder).as_posix()
        try:
            _check(name, file, shipped)
        except _Fault as fault:
            faults.append(Fault(file, fault.line, fault.why))
        else:
            usable[name] = file
    circular = _circular(usable, shipped)
    faults += [Fault(usable.pop(name), 0, "it includes itself") for name in circular]
    return Checked(usable, tuple(faults))


def _circular(usable: Mapping[str, Path], shipped: _Shipped) -> list[str]:
    """Return the names of templates that include themselves."""
    loader = TemplateLoader(templates_root())
    loader.overrides = usable
    circular = []
    for name in usable:
        try:
            loader.get_source(shipped.environment, name)
        except RecursionError:
            circular.append(name)
    return circular


def _files(folder: Path) -> Iterator[Path]:
    for entry in os.scandir(folder):
        if entry.name.startswith("."):
            continue
        if entry.is_dir():
            yield from _files(Path(entry.path))
        else:
            yield Path(entry.path)


class _Shipped:
    """The templates of this version and of games in packages of their own."""

    def __init__(self) -> None:
        self.environment = environment_of(TemplateLoader(templates_root()))

    @cached_property
    def names(self) -> list[str]:
        loader = loader_of(self.environment)
        loader.add_games()
        return [
            name
            for name in loader.list_templates()
            if not any(part.startswith((".", "__")) for part in name.split("/"))
        ]

    def text(self, name: str) -> str:
        return loader_of(self.environment).source_as_written(self.environment, name)[0]

    def tree(self, name: str) -> nodes.Template:
        return self.environment.parse(self.text(name))

    def no_such_name(self, name: str) -> str:
        """Return a sentence about a name that no shipped template has."""
        near = get_close_matches(name, self.names, 1, 0.6)
        hint = f"did you mean {near[0]}?" if near else "`pbmserv templates list` shows all"
        return f"no template of this version is called {name}; {hint}"

    def has_value(self, value: str) -> bool:
        """Return whether a shipped template uses a value."""
        return any(
            value in self.text(name) and value in meta.find_undeclared_variables(self.tree(name))
            for name in self.names
        )


def _check(name: str, file: Path, shipped: _Shipped) -> None:
    """Compare a template with the shipped one.

    Raises:
        _Fault: it cannot replace the shipped one.
    """
    if name not in shipped.names:
        raise _Fault(0, shipped.no_such_name(name))
    text = _read(file)
    if text == shipped.text(name):
        return
    try:
        shipped.environment.compile(text)
    except TemplateSyntaxError as error:
        raise _Fault(error.lineno, str(error.message).rstrip(".")) from None
    tree, model = shipped.environment.parse(text), shipped.tree(name)
    for kind, missing in (
        ("block", _blocks(model) - _blocks(tree)),
        ("macro or value", _exported(model) - _exported(tree)),
    ):
        if missing:
            raise _Fault(0, f"it lacks the {kind} {', '.join(sorted(missing))}")
    for node in tree.find_all((nodes.Extends, nodes.Include, nodes.Import, nodes.FromImport)):
        template = getattr(node, "template", None)
        if isinstance(template, nodes.Const) and template.value not in shipped.names:
            raise _Fault(node.lineno, shipped.no_such_name(str(template.value)))
    unknown = meta.find_undeclared_variables(tree) - meta.find_undeclared_variables(model)
    unknown -= set(shipped.environment.globals)
    unknown = {value for value in unknown if not shipped.has_value(value)}
    if unknown:
        lines = {node.name: node.lineno for node in tree.find_all(nodes.Name)}
        first = min(unknown, key=lambda value: lines.get(value, 0))
        raise _Fault(lines.get(first, 0), f"no template gets a value called {first}")


def _read(file: Path) -> str:
    try:
        if file.stat().st_mode & stat.S_IWOTH:
            raise _Fault(0, "everybody on this machine can write to it; do `chmod o-w` on it")
        return read_octets(file).decode("utf-8")
    except OSError as error:
        raise _Fault(0, f"it cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise _Fault(line, "it is not UTF-8; save it as UTF-8") from None


def _blocks(tree: nodes.Template) -> set[str]:
    return {block.name for block in tree.find_all(nodes.Block)}


def _exported(tree: nodes.Template) -> set[str]:
    """Return the names that other templates can import."""
    names = set()
    for node in tree.body:
        if isinstance(node, nodes.Macro):
            names.add(node.name)
        elif isinstance(node, nodes.Assign) and isinstance(node.target, nodes.Name):
            names.add(node.target.name)
    return names
