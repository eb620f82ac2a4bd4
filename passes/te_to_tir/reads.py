"""Reads that leave their tensor whatever the data: found before a kernel is made that would read other memory."""

from __future__ import annotations

from xdsl.ir import SSAValue

from lamina.dialects.fast_ir import all_ops
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Atom, Linear, constant
from lamina.dialects.te import ops as te
from lamina.dialects.te.extents import tensor_extents
from lamina.errors import InputError


def check_reads(op: te.ComputeOp) -> None:
    """Raise InputError at a read without a guard whose index is outside of the tensor for some element.

    Only indices that are sums of the compute's dimensions and sizes are looked at: there the least and the greatest are
    reached. What depends on data, a division or a guard is for the checks at run time.
    """
    extents: dict[SSAValue, Linear] = dict(zip(op.body.block.args, op.extents(), strict=True))
    if any(e == constant(0) for e in extents.values()):
        return
    for read in all_ops(op.body):
        if not isinstance(read, te.ReadOp) or read.guard is not None:
            continue
        shape = tensor_extents(read.tensor)
        for d, form in enumerate(over_values(read.map.data.results, read.indices)):
            reach = _reach(form, extents)
            if reach is None:
                continue
            low, high = reach
            beyond = high - shape[d]
            if low.is_constant and low.const < 0:
                where = f"{low.const}, before its first element"
            elif beyond.is_constant and beyond.const >= 0:
                where = f"{beyond.const + 1} beyond its last element"
            else:
                continue
            name = f"%{read.tensor.name_hint}" if read.tensor.name_hint else "the tensor"
            raise InputError(
                f"stage {op.stage.data!r} reads dimension {d} of {name} at {where}",
                hint="guard it: te.if_then_else, or `where` in the text",
                op=read,
            )


def _reach(form: Linear, extents: dict[SSAValue, Linear]) -> tuple[Linear, Linear] | None:
    """The least and the greatest value of an index, over sizes; None where that cannot be told."""
    low: dict[Atom, Linear] = {}
    high: dict[Atom, Linear] = {}
    for atom, coefficient in form.terms.items():
        if not isinstance(atom, SSAValue):
            return None
        extent = extents.get(atom)
        if extent is None:
            return None
        first, last = constant(0), extent - 1
        low[atom], high[atom] = (first, last) if coefficient > 0 else (last, first)
    return form.substitute(low), form.substitute(high)
