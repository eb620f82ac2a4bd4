"""Ops whose result shapes depend on values, not on types alone.

Such an op says what it needs to know, and what it is once that is known:

    static(types, values, **attrs)   of one that `BecomesStatic`: the op that it is for values of the operands NEEDED
    on_host(*arrays, **attrs)        of an `OnHost`: the results themselves, where no op of fixed size gives them

`static` serves the pass `relay-dynamic-to-static`, where the values are constants, and the virtual machine
(`lamina.vm.vm`) while a program runs. The result type that the text states is all that is known before: a rank,
an element type and extents, of which any may be `?`. `infer_type` gives what follows from the operands, with -1 for
an extent that does not.
"""

from __future__ import annotations

import abc
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, cast

from xdsl.dialects.builtin import DYNAMIC_INDEX

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.unknown_extents import infer_dynamic


class Static(NamedTuple):
    """The ordinary op that an op becomes once the values that it needs are known."""

    op: type[RelayOp]
    operands: tuple[int, ...]
    """The positions of the operands that it takes."""
    attrs: dict[str, Any]


class ValueDependent(RelayOp):
    """Base of the ops whose result shapes depend on values."""

    @classmethod
    def infer_types(
        cls, operand_types: Sequence[Attribute], properties: Properties, values: Sequence[SSAValue] = ()
    ) -> tuple[Attribute, ...]:
        return infer_dynamic(operand_types, lambda infos: cls.infer_infos(infos, cls._python(properties)))

    @classmethod
    def _python(cls, properties: dict[str, Attribute]) -> dict[str, Any]:
        return {name: from_attribute(a) for name, a in properties.items()}

    def _accepts(self, inferred: Sequence[Attribute]) -> bool:
        """A result may state more than follows from the operands: the run checks it."""
        if len(inferred) != len(self.results):
            return False
        return all(_may_be(a, i) for a, i in zip(self.result_types, inferred, strict=True))


class BecomesStatic(ValueDependent):
    """Base of those that are ordinary ops once values are known."""

    NEEDED: ClassVar[tuple[int, ...]]
    """The operands whose values `static` takes."""
    COMPUTES: ClassVar[bool] = False
    """Whether the ordinary op computes elements. One that only moves them is not compiled for each value that comes:
    numpy does it as fast."""

    @classmethod
    @abc.abstractmethod
    def static(cls, types: Sequence[TensorInfo], values: Mapping[int, Array], **attrs: Any) -> Static:
        """The ordinary op. Raises TypeMismatch for values that make none."""


class OnHost(ValueDependent):
    """Base of those that the host computes."""

    @staticmethod
    @abc.abstractmethod
    def on_host(*arrays: Any, **attrs: Any) -> tuple[Any, ...]:
        """The results. Raises TypeMismatch for values that have none."""


def _may_be(stated: Attribute, inferred: Attribute) -> bool:
    """Whether a stated type contradicts nothing that is inferred."""
    if not isinstance(stated, TensorType) or not isinstance(inferred, TensorType):
        return False
    a, b = cast("TensorType[Any]", stated), cast("TensorType[Any]", inferred)
    if a.element_type != b.element_type or stated.get_num_dims() != inferred.get_num_dims():
        return False
    pairs = zip(stated.get_shape(), inferred.get_shape(), strict=True)
    return all(DYNAMIC_INDEX in (s, i) or s == i for s, i in pairs)
