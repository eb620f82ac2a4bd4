"""Members that a base class of ops leaves to the ops; an op that forgets one is refused where it is declared.

class Elementwise(RelayOp):
    @staticmethod
    @abc.abstractmethod
    def te_element(x): ...

@irdl_op_definition
class ExpOp(Elementwise):         TypeError: ExpOp (relay.exp) does not declare te_element
    name = "relay.exp"
"""

from __future__ import annotations

import abc
from typing import Any


class Declared(abc.ABC):  # noqa: B024 (what is abstract is for those that derive from it)
    """Base of op classes with abstract methods: a class that has a `name` of its own, an op, declares them all."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "name" not in cls.__dict__:
            return
        open_ = {n for base in cls.__bases__ for n in getattr(base, "__abstractmethods__", ())}
        missing = sorted(n for n in open_ if getattr(getattr(cls, n), "__isabstractmethod__", False))
        if missing:
            raise TypeError(f"{cls.__name__} ({cls.__dict__['name']}) does not declare {', '.join(missing)}")
