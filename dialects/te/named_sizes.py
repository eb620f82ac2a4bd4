"""Functions of te over tensors whose extents are forms over symbols: sizes, and a `te.shape` for each tensor.

relay   tensor<?x4xf32, #relay.dims<n * 2, _>>
te      @f(%n: index, %x: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (d0 * 2, 4)>})
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block

from lamina.dialects.index.index_map import IndexMap, IndexMapAttr
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.index.symbol_forms import TIMES, symbols_of
from lamina.dialects.index.symbols import SymbolicExtent, Symbols, with_symbols
from lamina.dialects.infos import TypeMismatch, has_unknown_extents
from lamina.dialects.te.indices import NamedSizes, building
from lamina.dialects.value_names import value_name
from lamina.errors import UnsupportedError


def size_names(extents: Iterable[int], symbols: Symbols) -> list[str]:
    """The sizes that extents need: symbols in their order, then products of symbols."""
    forms = [e.form for e in extents if isinstance(e, SymbolicExtent)]
    atoms = {str(a) for f in forms for a in f.dims()}
    names = {n for f in forms for n in symbols_of(f)}
    # A product comes with its factors, so that whoever calls can tell it from them.
    return [n for n in symbols.known if n in names] + sorted(atoms - set(symbols.known))


def shape_attr(shape: Sequence[int], names: Sequence[str]) -> IndexMapAttr | None:
    """The `te.shape` of a tensor in a function of these sizes; None where all extents are numbers."""
    if all(type(e) is int for e in shape):
        return None
    places: Mapping[Atom, Linear] = {name: Linear.dim(n) for n, name in enumerate(names)}
    forms = [e.form.substitute(places) if isinstance(e, SymbolicExtent) else constant(e) for e in shape]
    return IndexMapAttr(IndexMap(len(names), tuple(forms)))


def without_names(type_: Attribute) -> Any:
    """A tensor type without the names of its extents."""
    if not has_unknown_extents([type_]):
        return type_
    tensor = cast("TensorType[Attribute]", type_)
    return TensorType[Any](tensor.element_type, tensor.get_shape())


def size_hint(name: str) -> str | None:
    """The name of the SSA value of a size."""
    return value_name(name.replace(TIMES, "_"))


@contextmanager
def building_with_sizes(target: Block, names: Sequence[str], symbols: Symbols | None) -> Generator[Symbols | None]:
    """Computes are appended to a te.func, whose first arguments are sizes of these names.

    It gives the symbols that are asked about the sizes: the equations hold under their guards. Raises UnsupportedError
    for an equation that takes no sizes.
    """
    if symbols is None or not names:
        with building(target):
            yield None
        return
    sizes = dict(zip(names, target.args, strict=False))
    for name, size in sizes.items():
        size.name_hint = size_hint(name)
    asked = symbols.fresh()
    with with_symbols(asked), building(target, NamedSizes(asked, sizes)):
        try:
            yield asked
        except (TypeMismatch, TypeError) as e:
            raise UnsupportedError(f"an equation of sizes: {e}") from e
