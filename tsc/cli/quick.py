"""Makes the package's own dataclasses quickly, in a process that is the command."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from operator import attrgetter
from typing import Any

Class = type[Any]
QUICK = {"frozen": True, "slots": True}


def quicken() -> None:
    """Let `dataclass` make the classes of modules that are imported from here on in half the time.

    The standard one compiles each method that it generates, which takes a quarter of a short check's time;
    here all but the constructor are closures. That nobody sets a field of a frozen class is the type
    checker's to hold.
    """
    dataclasses.dataclass = quickly(dataclasses.dataclass)


def quickly(dataclass: Callable[..., Any]) -> Callable[..., Any]:
    """Return a `dataclass` that makes frozen classes with slots of this package without compiling methods."""

    def decorate(cls: Class | None = None, /, **options: Any) -> Any:
        if cls is None:
            return lambda later: decorate(later, **options)
        own = options == QUICK and cls.__module__.startswith("tsc.")
        return _made(dataclass, cls) if own else dataclass(cls, **options)

    return decorate


def _made(dataclass: Callable[..., Any], cls: Class) -> Class:
    written = cls.__dict__.keys()
    made: Class = dataclass(cls, slots=True, eq=False, repr=False)
    fields = dataclasses.fields(made)
    values = _getter([field.name for field in fields if field.compare])
    key = _getter([field.name for field in fields if field.compare and field.hash is not False])
    shown = [field.name for field in fields if field.repr]

    def equal(self: Any, other: object) -> Any:
        return values(self) == values(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: Any) -> int:
        return hash(key(self))

    def text(self: Any) -> str:
        return f"{made.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"

    for name, method in (("__eq__", equal), ("__hash__", hashed), ("__repr__", text)):
        if name not in written or made.__dict__[name] is None:
            setattr(made, name, method)
    return made


def _getter(names: list[str]) -> Callable[[Any], Any]:
    return attrgetter(*names) if names else lambda _: ()
