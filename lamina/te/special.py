"""Operations that are no index equations: scans along a time axis, and tensors that statements compute."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from lamina.te.buffers import check_buffer
from lamina.te.expr import dtype_of, fail
from lamina.te.mistakes import checked_function
from lamina.te.tensor import (
    ORDERED,
    ComputeOp,
    IterVar,
    Operation,
    Range,
    Tensor,
    reading_order,
    same_size,
    shape_of,
)


class ScanOp(Operation):
    """States along a time axis: `init` gives the first times, `update` each later one of what came before.

    `cells` are the computes of one time, inputs first; their first axis is the time.
    """

    def __init__(
        self,
        name: str,
        tag: str,
        attrs: Mapping[str, Any] | None,
        init: Sequence[Tensor],
        update: Sequence[Tensor],
        state: Sequence[Tensor],
        cells: Sequence[ComputeOp],
    ) -> None:
        super().__init__(name, tag, attrs)
        self.init = list(init)
        self.update = list(update)
        self.state = list(state)
        self.cells = list(cells)
        time = state[0].shape[0]
        self.scan_axis = IterVar(Range.from_min_extent(init[0].shape[0], time - init[0].shape[0]), "t", ORDERED)

    @property
    def input_tensors(self) -> list[Tensor]:
        """The tensors that begin the states, and those that the cells read besides states and each other."""
        inside = {*self.cells, *(s.op for s in self.state)}
        read = [t for cell in self.cells for t in cell.input_tensors if t.op not in inside]
        return list(dict.fromkeys([*self.init, *read]))


def scan(
    init: Any,
    update: Any,
    state_placeholder: Any,
    inputs: Any = None,
    name: str = "scan",
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """The states of a recurrence, for all times: a tensor, or a list of them where there are several states.

    The first dimension is time. `init` gives the first times of each state; `update` is a compute over all times, of
    which only the later ones are computed, and reads `state_placeholder` at earlier times.
    """
    inits, updates, states = (_tensors(v, "scan") for v in (init, update, state_placeholder))
    if not len(inits) == len(updates) == len(states):
        raise fail(f"a scan has {len(inits)} initial tensors, {len(updates)} updates and {len(states)} states")
    for first, later, state in zip(inits, updates, states, strict=True):
        for what, t in (("update", later), ("initial tensor", first)):
            fits = t.ndim == state.ndim and t.dtype == state.dtype
            if not fits or not all(map(same_size, t.shape[1:], state.shape[1:])):
                raise fail(f"the {what} {t.name!r} is {t}, its state {state}")
        if not same_size(later.shape[0], states[0].shape[0]):
            raise fail(f"the update {later.name!r} has {later.shape[0]} times, the scan {states[0].shape[0]}")
    cells = _cells(updates, states)
    op = ScanOp(name, tag, attrs, inits, updates, states, cells)
    outputs = [Tensor(op, n, s.shape, s.dtype) for n, s in enumerate(states)]
    op.set_outputs(outputs)
    return outputs if len(outputs) > 1 else outputs[0]


def _tensors(value: Any, what: str) -> list[Tensor]:
    found: list[Any] = list(cast("Sequence[Any]", value)) if isinstance(value, (list, tuple)) else [value]
    for t in found:
        if not isinstance(t, Tensor):
            raise fail(f"{what} takes tensors, not {t!r}")
    return found


def _cells(updates: Sequence[Tensor], states: Sequence[Tensor]) -> list[ComputeOp]:
    """The computes of one time: those that states lead to, and the updates, inputs first."""
    changing: set[Operation] = {s.op for s in states}
    found: list[ComputeOp] = []
    for op in reading_order([u.op for u in updates]):
        if any(t.op in changing for t in op.input_tensors) or any(op is u.op for u in updates):
            if not isinstance(op, ComputeOp):
                raise fail(f"{op.name!r} depends on a state of the scan and is no compute")
            changing.add(op)
            found.append(op)
    return found


class ExternOp(Operation):
    """Tensors that statements write: `fcompute(ins, outs)` builds them with an ir_builder when a program is lowered."""

    def __init__(
        self,
        name: str,
        tag: str,
        attrs: Mapping[str, Any] | None,
        inputs: Sequence[Tensor],
        fcompute: Callable[..., Any],
    ) -> None:
        super().__init__(name, tag, attrs)
        self.inputs = list(inputs)
        self.fcompute = fcompute

    @property
    def input_tensors(self) -> list[Tensor]:
        return list(dict.fromkeys(self.inputs))


def extern(
    shape: Any,
    inputs: Sequence[Tensor],
    fcompute: Callable[..., Any],
    name: str = "extern",
    dtype: Any = None,
    in_buffers: Any = None,
    out_buffers: Any = None,
    tag: str = "",
    attrs: Mapping[str, Any] | None = None,
) -> Any:
    """The tensors of some shapes that the statements of `fcompute(ins, outs)` write: a tensor, or a list of several.

    The statements are built with `tir.ir_builder`. Without a dtype the results have that of the inputs.
    """
    checked_function(fcompute, 2, f"the statements of extern {name!r}")
    inputs = _tensors(inputs, f"extern {name!r}")
    rows: list[Any] = list(cast("Sequence[Any]", shape)) if isinstance(shape, (list, tuple)) else [shape]
    several = bool(rows) and isinstance(rows[0], (list, tuple))
    shapes = [shape_of(row) for row in (rows if several else [rows])]
    if dtype is None:
        dtypes = {t.dtype for t in inputs}
        if len(dtypes) != 1:
            raise fail(f"extern {name!r}: its inputs have {len(dtypes)} dtypes", hint="say the dtype of the results")
        dtype = dtypes.pop()
    names = [dtype_of(d) for d in (cast("Sequence[Any]", dtype) if isinstance(dtype, (list, tuple)) else [dtype])]
    names = names * len(shapes) if len(names) == 1 else names
    if len(names) != len(shapes):
        raise fail(f"extern {name!r}: {len(names)} dtypes for {len(shapes)} results")
    op = ExternOp(name, tag, attrs, inputs, fcompute)
    outputs = [Tensor(op, n, s, d) for n, (s, d) in enumerate(zip(shapes, names, strict=True))]
    op.set_outputs(outputs)
    for buffers, tensors, what in ((in_buffers, inputs, "inputs"), (out_buffers, outputs, "results")):
        given = list(cast("Sequence[Any]", buffers)) if isinstance(buffers, (list, tuple)) else [buffers]
        if buffers is not None and len(given) != len(tensors):
            raise fail(f"extern {name!r}: {len(given)} buffers for {len(tensors)} {what}")
        for buffer, tensor in zip(given if buffers is not None else (), tensors, strict=False):
            check_buffer(buffer, tensor)
    return outputs if several else outputs[0]
