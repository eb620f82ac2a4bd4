"""One operation in a schedule, in TVM's names: its loops, where it is computed, what holds its result."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lamina.ir.location import Place, caller
from lamina.te.expr import ExprLike, IntImm, as_expr, fail
from lamina.te.mistakes import checked_number
from lamina.te.relations import (
    Annotation,
    Attachment,
    Fuse,
    MadeBy,
    Relation,
    Sampled,
    Sampling,
    Split,
    replaced,
)
from lamina.te.tensor import REDUCE, THREAD, IterVar, Operation, PlaceholderOp, Tensor

if TYPE_CHECKING:
    from lamina.dialects.index.index_map import IndexMap
    from lamina.te.schedule import Schedule


class Stage:
    """The schedule of one operation: its loops, where it is computed and what holds its result."""

    def __init__(self, schedule: Schedule, op: Operation) -> None:
        self.schedule = schedule
        self.op = op
        self.origin_op = op
        self.relations: list[Relation] = []
        self.leaf_iter_vars: list[IterVar] = [*op.axis, *op.reduce_axis]
        self.attachment: Attachment | None = None
        self.annotations: list[Annotation] = []
        self.scope = ""
        self.scope_place: Place | None = None
        self.reordered: Place | None = None
        """The place of the last call of `reorder`."""
        self.made_by: MadeBy | None = None
        self.members: list[Stage] = []
        """Of a group."""
        self.layout: tuple[IndexMap, Place | None] | None = None
        """The index map of `transform_layout`; the axes are those of the new dimensions then."""
        self.padding: tuple[list[int], Place | None] | None = None
        """The paddings of `pad_einsum`."""
        self.root_iter_vars: list[IterVar] = list(self.leaf_iter_vars)
        """The loops that the stage begins with."""

    @property
    def name(self) -> str:
        return self.op.name

    @property
    def all_iter_vars(self) -> list[IterVar]:
        return [*self.root_iter_vars, *(p for r in self.relations for p in r.parts)]

    def __repr__(self) -> str:
        return f"stage({self.name}, {self.op.name})"

    # -- loops -----------------------------------------------------------------------------------------------

    def split(
        self,
        parent: IterVar,
        factor: Any = None,
        nparts: Any = None,
        disable_predication: bool = False,
        factors: Sequence[Any] | None = None,
    ) -> tuple[IterVar, ...]:
        """One loop as two, outer and inner, with `factor` iterations in the inner or `nparts` in the outer one.

        With `factors`, as in TIR's schedules, as many loops as these, of which one may be None: whatever is needed.
        """
        if sum(x is not None for x in (factor, nparts, factors)) != 1:
            raise fail("split takes either a factor or nparts, or else factors")
        self._check_loops("split", [parent])
        if factors is None:
            name, given = ("factor", factor) if nparts is None else ("nparts", nparts)
            size = self._number("split", name, given)
            numbers: list[int | Sampled] = [-1, size] if nparts is None else [size, -1]
            names = ["outer", "inner"]
        else:
            numbers = [-1 if f is None or f == -1 else self._number("split", "a factor", f) for f in factors]
            names = [str(n) for n in range(len(numbers))]
            if not numbers or numbers.count(-1) > 1:
                raise fail(f"split of stage {self.name!r}: there are factors, of which one at most is None")
        parts = [IterVar(None, f"{parent.name}.{n}", parent.iter_type) for n in names]
        self._relate(Split(parent, parts, numbers, caller()))
        return tuple(parts)

    def fuse(self, *args: IterVar) -> IterVar:
        """Loops that stand directly inside each other, from the outside in, as one."""
        if not args:
            raise fail("fuse takes at least one loop")
        self._check_loops("fuse", args)
        if len(args) == 1:
            return args[0]
        positions = [self.leaf_iter_vars.index(a) for a in args]
        if positions != list(range(positions[0], positions[0] + len(args))):
            order = ", ".join(v.name for v in self.leaf_iter_vars)
            names = ", ".join(v.name for v in args)
            raise fail(f"fuse of {names}: they do not stand directly inside each other; the loops are {order}")
        iter_type = REDUCE if args[0].iter_type == REDUCE else args[0].iter_type
        fused = IterVar(None, ".".join(v.name for v in args) + ".fused", iter_type)
        self._relate(Fuse(list(args), fused, caller()))
        return fused

    def reorder(self, *args: IterVar) -> None:
        """Loops in a new order, in the places that these loops have now."""
        self._check_loops("reorder", args)
        if len(set(map(id, args))) != len(args):
            raise fail("reorder names a loop twice")
        wanted = iter(args)
        self.reordered = caller()
        self.leaf_iter_vars = [next(wanted) if v in args else v for v in self.leaf_iter_vars]

    def tile(
        self, x_parent: IterVar, y_parent: IterVar, x_factor: Any, y_factor: Any
    ) -> tuple[IterVar, IterVar, IterVar, IterVar]:
        """Two loops split and interleaved: x outer, y outer, x inner, y inner."""
        x_outer, x_inner = self.split(x_parent, factor=x_factor)
        y_outer, y_inner = self.split(y_parent, factor=y_factor)
        self.reorder(x_outer, y_outer, x_inner, y_inner)
        return x_outer, y_outer, x_inner, y_inner

    def _relate(self, relation: Relation) -> None:
        self.relations.append(relation)
        self.leaf_iter_vars = replaced(self.leaf_iter_vars, relation.sources, relation.parts)

    def _check_loops(self, what: str, loops: Sequence[Any]) -> None:
        for v in loops:
            if not isinstance(v, IterVar):
                raise fail(f"{what} of stage {self.name!r} takes loops, not {v!r}")
            if v not in self.leaf_iter_vars:
                gone = "is no loop of it any more" if v in self.all_iter_vars else "is no loop of it"
                order = ", ".join(x.name for x in self.leaf_iter_vars) or "none"
                raise fail(f"{what} of stage {self.name!r}: {v.name!r} {gone}; its loops are {order}")

    def _number(self, what: str, name: str, value: Any) -> int | Sampled:
        if isinstance(value, Sampled):
            return value
        found = as_expr(value)
        if not isinstance(found, IntImm) or int(found) < 1:
            raise fail(f"{what} of stage {self.name!r}: {name} is a positive number, not {value!r}")
        return int(found)

    # -- how loops run -----------------------------------------------------------------------------------------

    def unroll(self, var: IterVar) -> None:
        """The iterations of a loop written out."""
        self._annotate("unroll", var)

    def vectorize(self, var: IterVar) -> None:
        """The iterations of a loop as the lanes of vectors."""
        self._annotate("vectorize", var)

    def parallel(self, var: IterVar) -> None:
        """The iterations of a loop on the threads of the pool."""
        self._annotate("parallel", var)

    def bind(self, ivar: IterVar, thread_ivar: IterVar) -> None:
        """The iterations of a loop on the threads along an axis of a GPU's grid or block."""
        if not isinstance(thread_ivar, IterVar) or thread_ivar.iter_type != THREAD:  # type: ignore[redundant-expr]
            raise fail("bind takes a thread axis", hint='make it with te.thread_axis("threadIdx.x")')
        self._annotate("bind", ivar, thread_ivar)

    def pragma(self, var: IterVar, pragma_type: str, pragma_value: Any = None) -> None:
        """A hint for later passes, by its name: `auto_unroll_max_step`, `unroll_explicit` and others."""
        self._annotate("pragma", var, (pragma_type, 1 if pragma_value is None else pragma_value))

    def annotate(self, var: IterVar | None, ann_key: str, ann_val: Any) -> None:
        """An attribute of a loop or, without one, of the stage: a number, a text, a truth value or a sampled number."""
        if not isinstance(ann_val, (bool, int, float, str, Sampled)):
            raise fail(f"annotate of stage {self.name!r}: {ann_val!r} is no number, text or truth value")
        if var is None:
            self._of_stage("annotate", (ann_key, ann_val))
        else:
            self._annotate("annotate", var, (ann_key, ann_val))

    def partition(self, var: IterVar) -> None:
        """The last iteration of a loop apart, so that the loops inside the others have constant extents."""
        self._annotate("partition", var)

    def blockize(self, var: IterVar, name: str = "") -> None:
        """A loop with all that stands in it as one block, called `<stage>_o` unless told otherwise."""
        self._annotate("blockize", var, name or f"{self.name}_o")

    def prefetch(self, tensor: Tensor, var: IterVar, offset: Any) -> None:
        """Ask for the part of a tensor that the iteration `offset` ahead reads."""
        self.schedule[tensor]  # raises where there is no such stage
        self._annotate("prefetch", var, (tensor, checked_number(offset, "the offset of a prefetch")))

    def tensorize(self, var: IterVar, tensor_intrin: Any) -> None:
        """A loop and all inside it as one instruction, if it computes what the instruction does."""
        if not isinstance(tensor_intrin, str) and not hasattr(tensor_intrin, "ir"):
            raise fail(f"tensorize of stage {self.name!r} takes an intrinsic or its name, not {tensor_intrin!r}")
        self._annotate("tensorize", var, tensor_intrin)

    def _annotate(self, kind: str, loop: IterVar, value: Any = None) -> None:
        self._check_loops(kind, [loop])
        self._say(Annotation(kind, loop, value, caller()))

    # -- where it is computed ----------------------------------------------------------------------------------

    def compute_at(self, parent: Stage, scope: IterVar) -> None:
        """Compute, in each iteration of a loop of another stage, what that iteration reads."""
        self._check_parent("compute_at", parent, scope)
        self.attachment = Attachment("at", parent, scope, caller())

    def reverse_compute_at(self, parent: Stage, scope: IterVar) -> None:
        """Compute, in each iteration of a loop of a stage that this one reads, what that iteration has finished."""
        self._check_parent("reverse_compute_at", parent, scope)
        self.attachment = Attachment("reverse_at", parent, scope, caller())

    def _check_parent(self, what: str, parent: Any, scope: Any) -> None:
        if not isinstance(parent, Stage):
            raise fail(f"{what} of stage {self.name!r} takes a stage, s[C], and one of its loops, not {parent!r}")
        if parent is self:
            raise fail(f"{what} of stage {self.name!r}: it cannot be computed inside itself")
        parent._check_loops(f"{what} of stage {self.name!r}: the loop", [scope])

    def compute_inline(self) -> None:
        """The equation in the place of each read of it."""
        if isinstance(self.op, PlaceholderOp):
            raise fail(f"compute_inline of stage {self.name!r}: a placeholder has no equation")
        self.attachment = Attachment("inline", None, None, caller())

    def reverse_compute_inline(self) -> None:
        """The equation where the stage that it reads computes what it reads."""
        if isinstance(self.op, PlaceholderOp):
            raise fail(f"reverse_compute_inline of stage {self.name!r}: a placeholder has no equation")
        self.attachment = Attachment("reverse_inline", None, None, caller())

    def compute_root(self) -> None:
        """Compute the stage on its own, before all that read it: what compute_at and others have said is taken back."""
        self.attachment = None

    # -- what holds the result -----------------------------------------------------------------------------------

    def set_scope(self, scope: str) -> None:
        """The memory that holds the result: `global`, `shared`, `local`, `register`."""
        self.scope, self.scope_place = scope, caller()

    def storage_align(self, axis: IterVar, factor: int, offset: int) -> None:
        """Strides of a dimension of the result of the form k * factor + offset."""
        if axis not in self.op.axis:
            named = repr(getattr(axis, "name", axis))
            raise fail(f"storage_align of stage {self.name!r}: {named} is no dimension of its result")
        numbers = [checked_number(n, f"the {w} of storage_align") for w, n in (("factor", factor), ("offset", offset))]
        self._of_stage("storage_align", (self.op.axis.index(axis), *numbers))

    def double_buffer(self) -> None:
        """Two copies of the result in turns, so that one is filled while the other is read."""
        self._of_stage("double_buffer", None)

    def rolling_buffer(self) -> None:
        """Keep of the result only what the next iterations of its consumer still read."""
        self._of_stage("rolling_buffer", None)

    def transform_layout(self, mapping_function: Any) -> list[IterVar]:
        """The result stored, and the stage iterated, in another order of dimensions. Returns the new loops.

        s[B].transform_layout(lambda n, c, h, w: [n, c // 4, h, w, te.AXIS_SEPARATOR, c % 4])
        """
        if self.relations:
            raise fail(f"transform_layout of stage {self.name!r}: it comes before splits and fuses")
        from lamina.te.layouts import index_map

        layout = index_map(self.op, mapping_function)
        dims = [IterVar(None, f"{self.name}.{n}") for n in range(len(layout.results))]
        self.layout = (layout, caller())
        self.annotations = [a for a in self.annotations if a.loop not in self.op.axis]
        self.root_iter_vars = [*dims, *self.op.reduce_axis]
        self.leaf_iter_vars = list(self.root_iter_vars)
        return dims

    def pad_einsum(self, padding: Sequence[int]) -> list[Tensor]:
        """The loops of a contraction run to multiples of some numbers, over copies of what it reads with zeros behind.

        Returns the stages that this adds: the copies of what is padded and, where a dimension of the result is, the
        copy of the result.
        """
        numbers = [int(p) for p in padding]
        loops = [*self.op.axis, *self.op.reduce_axis]
        if self.relations or self.layout is not None:
            raise fail(f"pad_einsum of stage {self.name!r}: it comes before splits and fuses")
        if len(numbers) != len(loops):
            raise fail(
                f"pad_einsum of stage {self.name!r}: it has {len(loops)} loops, {len(numbers)} numbers are given"
            )
        self.padding = (numbers, caller())
        return self.schedule.add_paddings(self, dict(zip(loops, numbers, strict=True)))

    def decompose_reduction(self, loop: IterVar) -> Stage:
        """Initialise a reduction in a stage of its own before a loop; return that stage.

        It comes after what splits, fuses and reorders the loops of the reduction.
        """
        self._check_loops("decompose_reduction", [loop])
        if not self.op.reduce_axis:
            raise fail(f"decompose_reduction of stage {self.name!r}: it is no reduction")
        return self.schedule.add_start(self, loop)

    def sample_perfect_tile(
        self, loop: IterVar, n: int, max_innermost_factor: int = 16, decision: Sequence[int] | None = None
    ) -> list[Sampled]:
        """`n` numbers whose product is the extent of a loop, drawn when the schedule is applied: factors of a split."""
        self._check_loops("sample_perfect_tile", [loop])
        chosen = None if decision is None else [int(d) for d in decision]
        if n < 1 or (chosen is not None and len(chosen) != n):
            raise fail(f"sample_perfect_tile of stage {self.name!r}: {n} factors, the decision is {decision}")
        sampling = Sampling(loop, [n, max_innermost_factor], [], chosen, caller())
        self.schedule.samplings.append(sampling)
        return [Sampled(sampling, k) for k in range(n)]

    def env_threads(self, threads: IterVar | Sequence[IterVar]) -> None:
        """Thread axes around the whole stage: of a scan or an extern op."""
        listed = list(threads) if isinstance(threads, (list, tuple)) else [threads]
        for thread in listed:
            if not isinstance(thread, IterVar) or thread.iter_type != THREAD:
                raise fail(f"env_threads of stage {self.name!r} takes thread axes, not {thread!r}")
        self._of_stage("env_threads", listed)

    def set_store_predicate(self, predicate: ExprLike) -> None:
        """Store the result only where a condition on thread axes or loops holds."""
        self._of_stage("store_predicate", as_expr(predicate))

    def _of_stage(self, kind: str, value: Any) -> None:
        self._say(Annotation(kind, None, value, caller()))

    def _say(self, said: Annotation) -> None:
        """The last word counts."""
        self.annotations = [a for a in self.annotations if a.subject() != said.subject()]
        self.annotations.append(said)

    def attached(self) -> Attachment | None:
        """The stage's place: as was said of it, else of a group that it belongs to; None for no place of its own."""
        if self.attachment is not None:
            return self.attachment
        around = [g.attachment for g in self.schedule.groups if self in g.members and g.attachment is not None]
        return around[-1] if around else None
