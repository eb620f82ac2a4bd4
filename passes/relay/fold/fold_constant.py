"""relay-fold-constant: computes what depends on constants alone.

Small values of inline constants are computed at once and stay inline. Anything that involves a parameter becomes a
derived parameter, whose bytes are computed when somebody asks for them: folding a model's weights costs nothing.

Before:
    %a = relay.constant dense<2.0> : tensor<f32>
    %b = relay.exp %a : tensor<f32>
    %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<64x64xf32>
    %t = relay.multiply %w, %b : (tensor<64x64xf32>, tensor<f32>) -> tensor<64x64xf32>
After:
    %t = relay.constant #relay.param<"w/multiply", "89abcdef01234567"> : tensor<64x64xf32>

Ops that grow their operands by more than `max_growth` bytes (full, broadcast_to, tile) stay, save those that compute a
weight of a product - from numbers of few bits, say -, and so does an integer division whose divisor may be zero: that
is an error of the run. `shape_of` and `ndarray_size` fold wherever the extents are known; an annotation stays, whatever
it stands on. A choice whose condition is known is its branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import Pure

from lamina.dialects import edit
from lamina.dialects.dtypes import bytes_of_type, dtype_name, is_float
from lamina.dialects.infos import has_unknown_extents
from lamina.dialects.lazy import np
from lamina.dialects.relay.base import OpPattern, RelayOp, attrs_of, has_extents
from lamina.dialects.relay.core import ConstantOp, constant_value
from lamina.dialects.relay.functional.annotations import Annotation
from lamina.dialects.relay.functional.control import IfOp
from lamina.dialects.relay.params import (
    INLINE_BYTES,
    ConstantAttr,
    ParamStore,
    array_dense,
    dense_array,
    store_of,
)
from lamina.dialects.rules.terms import all_results
from lamina.passes.base import Context, ModuleOp, ModulePass, inherit_location

if TYPE_CHECKING:
    from lamina.dialects.relay.params import Array

ANY_GROWTH = 1 << 62
"""For weights of 8 bits that are wider on the way to others of 8 bits, however many there are."""
SHAPES = frozenset(("relay.shape_of", "relay.ndarray_size"))
COPIES = frozenset(("relay.full", "relay.broadcast_to", "relay.tile"))
"""Ops whose results are nothing but their operands several times."""


@dataclass(frozen=True)
class FoldConstant(ModulePass):
    """Computes what depends on constants alone."""

    name = "relay-fold-constant"
    opt_level: ClassVar[int] = 2
    max_growth: int = 65536
    """The most bytes by which a folded value may be larger than its operands."""
    fold_qnn: bool = False
    """Whether quantised ops fold too: else weights that a model quantises stay as patterns look for them."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_constants(op, store_of(ctx), self.max_growth, self.fold_qnn)


def fold_constants(root: Operation, store: ParamStore, max_growth: int = 65536, fold_qnn: bool = False) -> int:
    """Fold everything inside an op: how many ops were folded. One sweep in program order is enough."""
    return fold_ops(list(root.walk()), store, max_growth, fold_qnn)


def fold_ops(ops: Sequence[Operation], store: ParamStore, max_growth: int = 65536, fold_qnn: bool = False) -> int:
    """Fold those of some ops, in program order, that depend on constants alone: how many."""
    folded = 0
    weights = _of_weights(ops)
    for op in ops:
        if type(op) is IfOp and op.parent is not None and choose_branch(op):
            folded += 1
        if not isinstance(op, RelayOp) or op.parent is None:
            continue
        if op.name in SHAPES and _fold_shape(op):
            folded += 1
            continue
        values = [constant_value(v) for v in op.operands]
        operands = [v for v in values if v is not None]
        growth = ANY_GROWTH if op in weights else max_growth
        if len(operands) < len(values) or not _foldable(op, operands, growth):
            continue
        if op.name.startswith("relay.qnn.") and not fold_qnn:
            continue
        _put_in_place(op, _fold(op, operands, store))
        folded += 1
    return folded


def _of_weights(ops: Sequence[Operation]) -> set[Operation]:
    """The ops on constants alone, of some in program order, by which the weight of a product, or of a
    recurrent layer, is computed: what they read second."""
    known: set[Operation] = set()
    found: set[Operation] = set()
    for op in ops:
        if isinstance(op, ConstantOp):
            known.add(op)
        if not isinstance(op, RelayOp):
            continue
        operands = [v.owner for v in op.operands]
        if operands and known.issuperset(operands) and op.name not in COPIES:  # type: ignore[arg-type]
            known.add(op)
        elif len(operands) > 1 and (op.FUSION_KIND == OpPattern.OUT_ELEMWISE_FUSABLE or hasattr(type(op), "weight")):
            behind = [operands[1]]
            while behind:
                owner = behind.pop()
                if owner in known and owner not in found and not isinstance(owner, ConstantOp):
                    assert isinstance(owner, Operation)
                    found.add(owner)
                    behind += [v.owner for v in owner.operands]
    return found


def choose_branch(op: IfOp) -> bool:
    """Put what the branch that is taken computes in the place of a choice, if its condition is known."""
    condition = constant_value(op.condition)
    if not isinstance(condition, DenseIntOrFPElementsAttr):
        return False
    taken = (op.true_region if dense_array(condition).item() else op.false_region).block
    given = taken.last_op
    assert given is not None and op.parent is not None
    if [v.type for v in given.operands] != list(op.result_types):
        return False  # what reads the results was typed by less
    with edit.transaction(op):
        edit.move_before(op, *(inner for inner in taken.ops if inner is not given))
        for result, value in zip(op.results, given.operands, strict=True):
            edit.replace_uses(result, value)
        _erase_with_constants(op)
    return True


def _fold_shape(op: RelayOp) -> bool:
    """Put a constant in the place of an op that reads nothing of its operand but the extents, if they are known."""
    type_: Any = op.operands[0].type
    if DYNAMIC_INDEX in type_.get_shape():
        return False
    anything = np.broadcast_to(np.zeros((), bool), type_.get_shape())
    value: Array = np.asarray(type(op).np_ref(anything, **attrs_of(op)))  # type: ignore[attr-defined]
    if op.parent is None or not value.size:
        return False
    _put_in_place(op, [ConstantOp.make(array_dense(value))])
    return True


def _foldable(op: RelayOp, operands: Sequence[ConstantAttr], max_growth: int) -> bool:
    if not op.has_trait(Pure) or not hasattr(op, "np_ref") or isinstance(op, Annotation) or has_extents(op.properties):
        return False
    if not all(isinstance(t, TensorType) for t in op.result_types) or has_unknown_extents(op.result_types):
        return False
    # Packing a weight pads its last block, however much that is; what is summed up at once is not kept.
    if op.name != "relay.layout_transform" and not _only_reduced(op):
        before = sum(bytes_of_type(v.type) for v in op.operands)
        if sum(map(bytes_of_type, op.result_types)) > before + max_growth:
            return False
    if op.name == "relay.check_divisor":
        return _has_no_zero(operands[0])
    if op.DIVIDES and not is_float(dtype_name(op.results[0].type.element_type)):  # type: ignore[attr-defined]
        return _has_no_zero(operands[1])
    return True


def _only_reduced(op: RelayOp) -> bool:
    """Whether nothing but reductions reads the result."""
    users = [use.operation for use in op.results[0].uses]
    return bool(users) and all(isinstance(u, RelayOp) and u.FUSION_KIND == OpPattern.COMM_REDUCE for u in users)


def _has_no_zero(divisor: ConstantAttr) -> bool:
    return isinstance(divisor, DenseIntOrFPElementsAttr) and bool(np.all(dense_array(divisor) != 0))


def _fold(op: RelayOp, operands: Sequence[ConstantAttr], store: ParamStore) -> list[ConstantOp]:
    """Constants for the results of an op on constants."""
    types: list[TensorType[Any]] = [t for t in op.result_types if isinstance(t, TensorType)]
    inline = all(isinstance(o, DenseIntOrFPElementsAttr) for o in operands)
    if inline and all(bytes_of_type(t) <= INLINE_BYTES for t in types):
        compute = [_thunk(op, i) for i in range(len(types))]
        return [ConstantOp.make(array_dense(c(*map(store.get, operands)))) for c in compute]
    recipe = _recipe(op)
    derived = [
        store.derive(operands, f"{recipe} #{i}", t, _thunk(op, i), remake=_remake(op, i)) for i, t in enumerate(types)
    ]
    return [ConstantOp.make(attr, t) for attr, t in zip(derived, types, strict=True)]


def _recipe(op: RelayOp) -> str:
    """The text of all that the value depends on, apart from the operands' bytes."""
    attrs = ", ".join(f"{n} = {a}" for n, a in sorted(op.properties.items()))
    operands = ", ".join(str(v.type) for v in op.operands)
    return f"{op.name} {{{attrs}}} ({operands})"


def _thunk(op: RelayOp, index: int) -> Callable[..., Array]:
    """The numpy oracle of one result, apart from the op, which is erased."""
    oracle: Any = type(op).np_ref  # type: ignore[attr-defined]
    attrs = attrs_of(op)
    type_: Any = op.result_types[index]

    def compute(*arrays: Array) -> Array:
        from lamina.dialects.dtypes import numpy_dtype

        with np.errstate(all="ignore"):
            array: Array = np.asarray(all_results(oracle(*arrays, **attrs))[index])
        return array.astype(numpy_dtype(dtype_name(type_.element_type)), copy=False)

    return compute


def _remake(op: RelayOp, index: int) -> Callable[[Sequence[SSAValue]], OpResult] | None:
    """A function that makes the op again and gives one result, where its kernels give the same bits as its oracle."""
    if not op.EXACT:
        return None
    cls, types, properties = type(op), tuple(op.result_types), dict(op.properties)
    return lambda operands: cls.create(operands=operands, result_types=types, properties=properties).results[index]


def _put_in_place(op: Operation, constants: Sequence[ConstantOp]) -> None:
    """Let constants stand for the results of an op, which goes with those that only it used."""
    with edit.transaction(op):
        edit.insert_before(op, *constants)
        for result, constant in zip(op.results, constants, strict=True):
            inherit_location(constant, op)
            edit.replace_uses(result, constant.result)
        _erase_with_constants(op)


def _erase_with_constants(op: Operation) -> None:
    owners = list(dict.fromkeys(v.owner for v in op.operands))
    edit.erase(op)
    for owner in owners:
        if isinstance(owner, ConstantOp) and owner.result.first_use is None and owner.parent is not None:
            edit.erase(owner)
