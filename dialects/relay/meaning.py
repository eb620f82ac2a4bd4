"""Asks an op for its meaning: as te computes, or as numpy values, or as a whole te.func.

An op states either `te_compute` or `decompose` into other Relay ops; who needs the meaning does not care which.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import IndexType, StringAttr
from xdsl.ir import Block, Operation, SSAValue

from lamina.dialects.dtypes import integer_range, numpy_dtype, tensor_type
from lamina.dialects.fast_ir import ops_behind
from lamina.dialects.infos import TensorInfo, at_least, tensor_info
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import Ascending, RelayOp, attrs_of
from lamina.dialects.relay.core import ConstantOp, constant_array
from lamina.dialects.relay.families import INTEGERS
from lamina.dialects.relay.symbolic import type_of_info
from lamina.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    from lamina.dialects.index.symbols import Symbols
    from lamina.dialects.relay.families import Array
    from lamina.dialects.te.build import Tensor
    from lamina.dialects.te.ops import FuncOp


def result_infos(op_type: type[RelayOp], operands: Sequence[TensorInfo], attrs: dict[str, Any]) -> list[TensorInfo]:
    """The result types of an instance. Raises TypeMismatch, as `RelayOp.make` does."""
    block = Block(arg_types=[tensor_type(tuple(o.shape), o.dtype) for o in operands])
    return [tensor_info(t) for t in op_type.make(*block.args, **attrs).result_types]


def np_results(op_type: type[RelayOp], arrays: Sequence[Array], attrs: dict[str, Any]) -> list[Array]:
    """The results by the numpy oracle; `attrs` names every attribute that has no default of the op."""
    with np.errstate(all="ignore"):
        found: Any = op_type.np_ref(*arrays, **full_attrs(op_type, attrs))  # type: ignore[attr-defined]
    return [np.asarray(f) for f in _listed(found)]


def symbolic_results(
    op_type: type[RelayOp], arrays: Sequence[Array], attrs: dict[str, Any], symbols: Symbols
) -> list[Array] | None:
    """The results on integers of which some depend on symbols, as arrays of objects.

    None where the op asks more of the symbols than is known: the program computes it then, and nothing was asked.
    """
    from lamina.dialects.index.symbols import with_symbols

    if op_type.name == "relay.cast":
        return [arrays[0]] if _has_numbers(attrs["dtype"], arrays[0]) else None
    before = len(symbols.guards)
    try:
        with with_symbols(symbols):
            results = np_results(op_type, arrays, attrs)
    except (TypeError, ValueError, ArithmeticError, IndexError, AttributeError):
        results = None
    if len(symbols.guards) > before:
        symbols.forget(before)
        return None
    return results


def _has_numbers(dtype: str, array: Array) -> bool:
    """Whether a dtype of integers has the numbers of an array, whatever the symbols are."""
    if dtype not in INTEGERS:
        return False
    low, high = integer_range(dtype)
    numbers: list[Any] = array.reshape(-1).tolist()
    return all(at_least(n, low) and at_least(high - n, 0) for n in numbers)


def _listed(value: Any) -> list[Any]:
    """The result of a facet, one value or several, as a list."""
    return [*value] if isinstance(value, (tuple, list)) else [value]


def te_results(op_type: type[RelayOp], tensors: Sequence[Tensor], attrs: dict[str, Any]) -> list[Tensor]:
    """The results as te computes, appended to the block under construction (`te.build.building`)."""
    given = full_attrs(op_type, attrs)
    if hasattr(op_type, "te_compute"):
        return _listed(op_type.te_compute(*tensors, **given))  # type: ignore[attr-defined]
    types = [type_of_info(TensorInfo(t.shape, t.dtype)) for t in tensors]
    values, order, block = decomposition(op_type, types, given)
    computed: dict[SSAValue, Tensor] = dict(zip(block.args, tensors, strict=True))
    for op in order:
        if isinstance(op, ConstantOp):
            computed[op.results[0]] = constant_tensor(constant_array(op, None))
            continue
        assert isinstance(op, RelayOp)
        results = te_results(type(op), [computed[o] for o in op.operands], attrs_of(op))
        computed.update(zip(op.results, results, strict=True))
    return [computed[v] for v in values]


def constant_tensor(array: Array) -> Tensor:
    """An array of one element, as an equation."""
    from lamina.dialects.te.lib import compute, const

    value, dtype = array.reshape(-1)[0].item(), str(array.dtype)
    return compute(array.shape, lambda *_: const(value, dtype), "constant", dtype=dtype)


def decomposition(
    op_type: type[RelayOp], operand_types: Sequence[Any], attrs: dict[str, Any]
) -> tuple[list[SSAValue], list[Operation], Block]:
    """The result values of `decompose`, the ops it made in order, and the block whose arguments are its operands.

    Raises InputError where the op declares no meaning: a pass of whoever declared it must replace it before.
    """
    if not hasattr(op_type, "decompose"):
        what = f"{op_type.name} has neither te_compute nor decompose"
        raise InputError(what, hint="run the pass that lowers it before relay-to-te, or declare one of the two")
    block = Block(arg_types=operand_types)
    made: Any = op_type.decompose(*block.args, **attrs)  # type: ignore[attr-defined]
    values: list[SSAValue] = [v if isinstance(v, SSAValue) else v.results[0] for v in _listed(made)]
    return values, ops_behind(values, lambda op: True), block


def full_attrs(op_type: type[RelayOp], attrs: dict[str, Any]) -> dict[str, Any]:
    """The attributes as facets take them: defaults filled in, lists as tuples."""
    from lamina.dialects.attributes import from_attribute, to_attribute

    defaults = {name: from_attribute(a) for name, a in op_type.defaults().items()}
    return defaults | {name: from_attribute(to_attribute(v)) for name, v in attrs.items() if v is not None}


def te_func(
    op_type: type[RelayOp],
    operands: Sequence[TensorInfo],
    attrs: dict[str, Any],
    name: str = "main",
    symbols: Symbols | None = None,
) -> FuncOp:
    """`te.func @main` that computes one op; its arguments are the op's operands.

    Where extents depend on `symbols`, the sizes that they need come first. Raises UnsupportedError where the op asks
    more of them than their ranges say.
    """
    from lamina.dialects.te.build import Tensor
    from lamina.dialects.te.named_sizes import building_with_sizes, shape_attr, size_names, without_names
    from lamina.dialects.te.ops import FuncOp, ReturnOp

    names: list[str] = []
    if symbols is not None:
        from lamina.dialects.index.symbols import with_symbols

        with with_symbols(symbols):
            given = op_type.infer_infos(operands, full_attrs(op_type, attrs))
        listed: list[Any] = [v for v in full_attrs(op_type, attrs).values() if isinstance(v, tuple)]
        numbers = [e for v in listed for e in v]
        names = size_names([*(e for i in (*operands, *given) for e in i.shape), *numbers], symbols)
    types = [*[IndexType()] * len(names), *(without_names(type_of_info(o)) for o in operands)]
    shapes = [*[None] * len(names), *(shape_attr(o.shape, names) for o in operands)]
    func = FuncOp.make(name, types, [], shapes)
    block = func.body.block
    for n, argument in enumerate(block.args):
        argument.name_hint = f"p{n}"
    with building_with_sizes(block, names, symbols) as asked:
        results = te_results(op_type, [Tensor(a) for a in block.args[len(names) :]], attrs)
        if asked is not None and asked.guards:
            raise UnsupportedError(f"{op_type.name} computes this only where {asked.guards[0]}")
    block.add_op(ReturnOp.create(operands=[r.value for r in results]))
    typed = FuncOp.make(name, types, [r.value.type for r in results])
    func.properties["function_type"] = typed.function_type
    func.properties["sym_name"] = StringAttr(name)
    return func


def draw(operand: TensorInfo, bounds: tuple[float, float] | None, finite: bool, random: np.random.Generator) -> Array:
    """Values of a type for a test: within the bounds, by default -2..2, integers -8..8 or 0..8.

    When not `finite`, the first elements of a float tensor are zeros of both signs, NaN, infinities and extremes.
    """
    if isinstance(bounds, Ascending):
        return np.sort(draw(operand, (bounds.low, bounds.high), finite, random), axis=-1)
    shape, dtype = tuple(operand.shape), operand.dtype
    kind = numpy_dtype(dtype)
    if dtype == "bool":
        return random.integers(0, 2, shape).astype(bool)
    if dtype.startswith(("int", "uint")):
        low, high = bounds or ((-8, 8) if dtype.startswith("int") else (0, 8))
        return random.integers(int(low), int(high), shape, endpoint=True).astype(kind)
    low, high = bounds or (-2.0, 2.0)
    values = random.uniform(low, high, shape).astype(kind)
    if not finite:
        special = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.0, -1.0, 100.0, -100.0, 0.5, -0.5, 1.5, 2.5]
        flat = values.reshape(-1)
        count = min(len(special), flat.size)
        places = random.permutation(flat.size)[:count]
        flat[places] = np.asarray(special[:count]).astype(kind)
        values = flat.reshape(shape)
    return values
