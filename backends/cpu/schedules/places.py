"""Places that a stage reads and conditions that it asks, over its own dimensions, with all that was inlined into it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from xdsl.dialects.builtin import DYNAMIC_INDEX

from lamina.backends.cpu.stages import Stage, read_shape
from lamina.dialects.index.accesses import over_values
from lamina.dialects.index.linear import Atom, Linear, recombine, row_major_strides, sum_of
from lamina.dialects.te.ops import ConditionOp, IndexOp, ReadOp


class Place(NamedTuple):
    """One read from memory."""

    last: Linear
    """Its innermost index."""
    flat: Linear
    """Its place in the tensor, row-major."""


class Places(NamedTuple):
    """The forms that decide where a stage's elements come from, each once."""

    reads: list[Place]
    asked: list[Linear]
    """The forms in guards and conditions, and indices that are values."""
    whole: bool
    """Whether these are all reads: none is from a tensor of unknown extents."""


def places_of(stage: Stage) -> Places:
    """The places of a stage.

    Each stage that was inlined is looked at once: residual sums, one after the other, are read on more ways than can be
    walked.
    """
    known: dict[int, Places] = {}

    def find(stage: Stage) -> Places:
        if id(stage) in known:
            return known[id(stage)]
        reads: dict[Place, None] = {}
        asked: dict[Linear, None] = dict.fromkeys(_asked(stage))
        whole = True
        for read in stage.reads():
            forms = stage.read_forms(read)
            source = stage.inputs.get(read.tensor)
            if source is not None and source.inlined:
                mapping: dict[Atom, Linear] = dict(zip(source.op.body.block.args, forms, strict=False))
                within = find(source)
                reads.update(dict.fromkeys(Place(*(f.substitute(mapping) for f in place)) for place in within.reads))
                asked.update(dict.fromkeys(form.substitute(mapping) for form in within.asked))
                whole = whole and within.whole
            elif DYNAMIC_INDEX in read_shape(read):
                whole = False
            elif forms:
                strides = row_major_strides(read_shape(read))
                flat = recombine(sum_of(f * n for f, n in zip(forms, strides, strict=True)))
                reads[Place(forms[-1], flat)] = None
        found = known[id(stage)] = Places(list(reads), list(asked), whole)
        return found

    return find(stage)


def _asked(stage: Stage) -> Iterator[Linear]:
    for op in stage.op.body.block.ops:
        if isinstance(op, ReadOp) and op.guard is not None:
            yield from over_values([c.form for c in op.guard.data.conditions], op.indices)
        elif isinstance(op, ConditionOp):
            yield from over_values([c.form for c in op.set.data.conditions], op.indices)
        elif isinstance(op, IndexOp):
            yield from over_values(op.map.data.results, op.indices)


def is_divided(form: Linear, variables: Sequence[Atom]) -> bool:
    """Whether a quotient or a remainder of one of some variables is in a form."""
    return any(isinstance(a, tuple) and not set(variables).isdisjoint(a[1].dims()) for a in form.terms)


def goes_on(form: Linear, before: Atom, here: Atom, extent: int) -> bool:
    """Whether a place goes on from a dimension's last element to the first one of the next of the dimension before."""
    return form.terms.get(before, 0) == form.terms.get(here, 0) * extent and not is_divided(form, (before, here))
