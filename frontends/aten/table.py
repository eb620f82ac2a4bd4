"""The table of ATen's operators: equations, and converters for what is no equation.

    @aten_op("cat", "concat", "concatenate")
    def cat(b: AtenBuilder, tensors: Sequence[Value], dim: int = 0) -> Value: ...

A converter has the arguments of ATen's schema, in its order and with its names and defaults. A name is that of a packet
(`add`), or of one overload (`add.Tensor`), which goes before it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from lamina.frontends.aten.equations import AtenEquation, written
from lamina.frontends.aten.graph import AtenCall

if TYPE_CHECKING:
    from lamina.frontends.aten.builder import AtenBuilder

Converter: TypeAlias = Callable[..., Any]

_CONVERTERS: dict[str, tuple[Converter, Signature]] = {}


def aten_op(*names: str) -> Callable[[Converter], Converter]:
    """Registers a converter. It returns the result, or a tuple or list of the results."""

    def register(convert: Converter) -> Converter:
        for name in names:
            if name in _CONVERTERS:
                raise TypeError(f"{name} has two converters")
            _CONVERTERS[name] = (convert, signature(convert))
        return convert

    return register


@cache
def _load() -> dict[str, list[AtenEquation]]:
    """The equations by operator, once the files of this folder have been read."""
    for path in sorted(Path(__file__).parent.glob("convert_*.py")):
        import_module(f"lamina.frontends.aten.{path.stem}")
    found: dict[str, list[AtenEquation]] = {}
    for equation in written():
        found.setdefault(equation.name, []).append(equation)
    return found


def converters() -> dict[str, tuple[Converter, Signature]]:
    """The converters by name."""
    _load()
    return _CONVERTERS


def equations() -> dict[str, list[AtenEquation]]:
    """The equations by name, in the order in which they are tried."""
    return _load()


def names() -> list[str]:
    """The operators that there is something for."""
    return sorted({*converters(), *equations()})


def spellings(call: AtenCall) -> tuple[str, ...]:
    """The names that a row for a call may have: of its overload, of its packet; prims are ATen's of the same name."""
    return call.target.removeprefix("aten."), call.packet, call.packet.removeprefix("prims.")


def entry(call: AtenCall) -> tuple[Converter, Signature] | list[AtenEquation] | None:
    """The row for a call: that of its overload, else of its packet."""
    for name in spellings(call):
        found = equations().get(name) or converters().get(name)
        if found is not None:
            return found
    return None


def converter(call: AtenCall) -> tuple[Converter, Signature] | None:
    """The converter for what no equation fits."""
    return next((c for name in spellings(call) if (c := converters().get(name)) is not None), None)


def overloads(packet: str) -> list[str]:
    """The names of the rows of an operator: its own and those of its overloads."""
    own = packet[:-1] if packet.endswith("_") and not packet.endswith("__") else packet
    return [n for n in names() if n == own or n.startswith(f"{own}.")]


def by_table(b: AtenBuilder, call: AtenCall, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """The results of a call by the table. Raises UnsupportedError where no row fits."""
    row = entry(call)
    if isinstance(row, list):
        for equation in row:
            found = equation.apply(b, args, kwargs, row[0].left)
            if found is not None:
                return found
    chosen = converter_of(call, row)
    if chosen is None:
        raise b.unsupported("these arguments are not supported")
    convert, sign = chosen
    try:
        bound = sign.bind(b, *args, **{k: v for k, v in kwargs.items() if k in sign.parameters or _takes_any(sign)})
    except TypeError as e:
        raise b.unsupported(f"these arguments are not supported: {e}") from None
    return convert(*bound.args, **bound.kwargs)


def converter_of(call: AtenCall, row: Any) -> tuple[Converter, Any] | None:
    """The converter of a row, or the one for what none of its equations fits."""
    return converter(call) if isinstance(row, list) else row


def _takes_any(sign: Any) -> bool:
    return any(p.kind is p.VAR_KEYWORD for p in sign.parameters.values())
