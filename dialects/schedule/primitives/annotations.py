"""Schedule primitives that say something about a loop, a stage or its buffer, for passes to act upon."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntegerAttr, StringAttr, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.index.accesses import over_positions, over_values
from lamina.dialects.index.index_map import (
    Condition,
    IndexSet,
    IndexSetAttr,
    InlineDims,
    parse_condition,
    print_conditions,
)
from lamina.dialects.schedule.factors import FACTOR
from lamina.dialects.schedule.primitive import LOOP, LoopPrimitiveOp, PrimitiveOp, ScheduleState


def _print_value(printer: Printer, value: Attribute | None, sampled: SSAValue | None) -> None:
    printer.print_string(" = ")
    if sampled is not None:
        printer.print_ssa_value(sampled)
    else:
        assert value is not None
        printer.print_attribute(value)


def _parse_value(parser: Parser) -> Attribute | SSAValue:
    parser.parse_punctuation("=")
    operand = parser.parse_optional_unresolved_operand()
    return parser.resolve_operand(operand, FACTOR) if operand is not None else parser.parse_attribute()


@irdl_op_definition
class AnnotateOp(LoopPrimitiveOp):
    """An attribute of a loop, or of a stage: any name, any value.

    Before: `for i in 8: ...`    After `te.annotate %i "tiling" = "SSR"`: `for i in 8 {tiling = "SSR"}: ...`
    """

    name = "te.annotate"
    loop = opt_operand_def(LOOP)
    sampled = opt_operand_def(FACTOR)
    stage = opt_prop_def(StringAttr)
    key = prop_def(StringAttr)
    value = opt_prop_def()
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    @staticmethod
    def make(target: SSAValue | str, key: str, value: Attribute | SSAValue) -> AnnotateOp:
        properties: dict[str, Attribute] = {"key": StringAttr(key)}
        loops: list[SSAValue] = []
        sampled: list[SSAValue] = []
        if isinstance(target, str):
            properties["stage"] = StringAttr(target)
        else:
            loops.append(target)
        if isinstance(value, SSAValue):
            sampled.append(value)
        else:
            properties["value"] = value
        return AnnotateOp.build(operands=[loops, sampled], properties=properties)

    def verify_(self) -> None:
        if (self.loop is None) == (self.stage is None) or (self.sampled is None) == (self.value is None):
            raise VerifyException("te.annotate names a loop or a stage, and one value")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        if self.loop is not None:
            printer.print_ssa_value(self.loop)
        elif self.stage is not None:
            printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        printer.print_string_literal(self.key.data)
        _print_value(printer, self.value, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> AnnotateOp:
        stage = parser.parse_optional_str_literal()
        target = stage if stage is not None else parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        return cls.make(target, parser.parse_str_literal("the annotation's name"), _parse_value(parser))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.annotations import annotate, annotate_stage

        value = self.value if self.sampled is None else IntegerAttr(state.factor(self.sampled), i64)
        assert value is not None
        if self.loop is not None:
            annotate(state.loop(self.loop), self.key.data, value)
        elif self.stage is not None:
            annotate_stage(state.func, self.stage.data, self.key.data, value)


@irdl_op_definition
class PragmaOp(PrimitiveOp):
    """A pragma for a pass about a loop: `unroll_explicit`, `auto_unroll_max_step`, `auto_unroll_max_depth`,
    `loop_partition_hint`, `masked_lanes`.

    Before: `for k in 4: f(k)`    After `te.pragma %k "auto_unroll_max_step" = 16`, when tir-unroll-loop has run:
    `f(0); f(1); f(2); f(3)`
    """

    name = "te.pragma"
    loop = operand_def(LOOP)
    sampled = opt_operand_def(FACTOR)
    key = prop_def(StringAttr)
    value = opt_prop_def()

    @staticmethod
    def make(loop: SSAValue, key: str, value: Attribute | SSAValue | int) -> PragmaOp:
        properties: dict[str, Attribute] = {"key": StringAttr(key)}
        if isinstance(value, SSAValue):
            return PragmaOp.create(operands=[loop, value], properties=properties)
        properties["value"] = IntegerAttr(value, i64) if isinstance(value, int) else value
        return PragmaOp.create(operands=[loop], properties=properties)

    def verify_(self) -> None:
        if (self.sampled is None) == (self.value is None):
            raise VerifyException("te.pragma has one value")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_ssa_value(self.loop)
        printer.print_string(" ")
        printer.print_string_literal(self.key.data)
        _print_value(printer, self.value, self.sampled)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> PragmaOp:
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        return cls.make(loop, parser.parse_str_literal("the pragma's name"), _parse_value(parser))

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.annotations import pragma

        value = self.value if self.sampled is None else IntegerAttr(state.factor(self.sampled), i64)
        assert value is not None
        pragma(state.loop(self.loop), self.key.data, value)


@irdl_op_definition
class StorageAlignOp(PrimitiveOp):
    """The distance in memory between neighbours along an axis of a stage's buffer: `offset` modulo `factor`.

    Before: `B: 8x32`, where B[i, j] stands at i * 32 + j
    After `te.storage_align "B" axis 0 factor 32 offset 1`: `B: 8x65`, where B[i, j] stands at i * 65 + j
    """

    name = "te.storage_align"
    stage = prop_def(StringAttr)
    numbers = prop_def(DenseArrayBase.constr(i64))

    @staticmethod
    def make(stage: str, axis: int, factor: int, offset: int) -> StorageAlignOp:
        numbers = DenseArrayBase.from_list(i64, [axis, factor, offset])
        return StorageAlignOp.create(properties={"stage": StringAttr(stage), "numbers": numbers})

    def print(self, printer: Printer) -> None:
        axis, factor, offset = self.numbers.get_values()
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(f" axis {axis} factor {factor} offset {offset}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> StorageAlignOp:
        stage = parser.parse_str_literal("the stage's name")
        numbers: list[int] = []
        for keyword in ("axis", "factor", "offset"):
            parser.parse_keyword(keyword)
            numbers.append(parser.parse_integer(allow_boolean=False))
        return cls.make(stage, *numbers)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.annotations import storage_align

        axis, factor, offset = (int(n) for n in self.numbers.get_values())
        storage_align(state.func, self.stage.data, axis, factor, offset)


@irdl_op_definition
class DoubleBufferOp(PrimitiveOp):
    """A stage's buffer twice: one half is filled for the next iteration while the other is used.

    Before: `for i: (B = A[i]; C[i] = f(B))`    After `te.double_buffer "B"`, when tir-inject-double-buffer has run:
    `B[0] = A[0]; for i: (if i + 1 < n: B[(i + 1) % 2] = A[i + 1]); C[i] = f(B[i % 2])`
    """

    name = "te.double_buffer"
    stage = prop_def(StringAttr)
    assembly_format = "$stage attr-dict"

    @staticmethod
    def make(stage: str) -> DoubleBufferOp:
        return DoubleBufferOp.create(properties={"stage": StringAttr(stage)})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.annotations import double_buffer

        double_buffer(state.func, self.stage.data)


@irdl_op_definition
class PrefetchOp(PrimitiveOp):
    """Prefetch, into the cache, of the elements of a tensor that a later iteration of a loop reads or writes.

    Before: `for i: C[i] = f(A[i])`    After `te.prefetch "A" at %i offset 2`, when tir-inject-prefetch has run:
    `for i: (prefetch A[i + 2]; C[i] = f(A[i]))`

    With `write` it is what is written: `te.prefetch "C" at %i offset 0 write spread %k` has the lines of a tile at hand
    when its sums are stored. With `spread %j`, a loop within %i, its lines are fetched little by little, some in each
    iteration of j, rather than all at once. `locality` says how near they come: 3, as a rule, into all caches, 2 into
    the second, 1 into the third.
    """

    name = "te.prefetch"
    tensor = prop_def(StringAttr)
    loop = operand_def(LOOP)
    spread = opt_operand_def(LOOP)
    offset = prop_def(IntegerAttr)
    write = opt_prop_def(UnitAttr)
    locality = prop_def(IntegerAttr, default_value=IntegerAttr(3, i64))

    @staticmethod
    def make(
        tensor: str,
        loop: SSAValue,
        offset: int,
        spread: SSAValue | None = None,
        locality: int = 3,
        write: bool = False,
    ) -> PrefetchOp:
        properties: dict[str, Attribute] = {"tensor": StringAttr(tensor), "offset": IntegerAttr(offset, i64)}
        properties["locality"] = IntegerAttr(locality, i64)
        if write:
            properties["write"] = UnitAttr()
        return PrefetchOp.create(operands=[loop, *([spread] if spread is not None else [])], properties=properties)

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.tensor.data)
        printer.print_string(" at ")
        printer.print_ssa_value(self.loop)
        printer.print_string(f" offset {self.offset.value.data}")
        printer.print_string(" write" if self.write is not None else "")
        if self.spread is not None:
            printer.print_string(" spread ")
            printer.print_ssa_value(self.spread)
        if self.locality.value.data != 3:
            printer.print_string(f" locality {self.locality.value.data}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> PrefetchOp:
        tensor = parser.parse_str_literal("the tensor's name")
        parser.parse_keyword("at")
        loop = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        parser.parse_keyword("offset")
        offset = parser.parse_integer(allow_boolean=False)
        write = parser.parse_optional_keyword("write") is not None
        spread = None
        if parser.parse_optional_keyword("spread"):
            spread = parser.resolve_operand(parser.parse_unresolved_operand(), LOOP)
        locality = 3
        if parser.parse_optional_keyword("locality"):
            locality = parser.parse_integer(allow_boolean=False)
        return cls.make(tensor, loop, offset, spread, locality, write)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.annotations import prefetch

        tensor, offset, locality = self.tensor.data, self.offset.value.data, self.locality.value.data
        spread = state.loop(self.spread) if self.spread is not None else None
        write = self.write is not None
        prefetch(state.loop(self.loop), tensor, state.tensor(tensor), offset, spread, locality, write)


@irdl_op_definition
class EnvThreadsOp(PrimitiveOp):
    """Threads launched around a stage's nest: each runs all of it, and loops bound to their axes inside are shared out.

    Before: `for i: C[i] = f`
    After `%t = te.env_threads "C" ["threadIdx.x"] [64]`: thread t of 64 does `for i: C[i] = f`
    """

    name = "te.env_threads"
    stage = prop_def(StringAttr)
    tags = prop_def(ArrayAttr)
    extents = prop_def(DenseArrayBase.constr(i64))
    loops = var_result_def(LOOP)

    @staticmethod
    def make(stage: str, tags: Sequence[str], extents: Sequence[int]) -> EnvThreadsOp:
        return EnvThreadsOp.create(
            properties={
                "stage": StringAttr(stage),
                "tags": ArrayAttr([StringAttr(t) for t in tags]),
                "extents": DenseArrayBase.from_list(i64, list(extents)),
            },
            result_types=[LOOP] * len(tags),
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        printer.print_attribute(self.tags)
        printer.print_string(f" {list(self.extents.get_values())}")
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> EnvThreadsOp:
        stage = parser.parse_str_literal("the stage's name")
        tags = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_str_literal("the thread axis")
        )
        extents = parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
        return cls.make(stage, tags, extents)

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.annotations import env_threads

        tags = [t.data for t in self.tags.data if isinstance(t, StringAttr)]
        extents = [int(e) for e in self.extents.get_values()]
        state.bind(self.results, env_threads(state.func, self.stage.data, tags, extents))


@irdl_op_definition
class StorePredicateOp(PrimitiveOp):
    """A stage that runs only where conditions on its loops hold: of iterations that repeat each other, one is enough.

    Before: thread t of 64 does `C = f`    After `te.store_predicate "C" where [%t == 0]`: `if t == 0: C = f`
    """

    name = "te.store_predicate"
    stage = prop_def(StringAttr)
    loops = var_operand_def(LOOP)
    set = prop_def(IndexSetAttr)

    @staticmethod
    def make(stage: str, conditions: Sequence[Condition]) -> StorePredicateOp:
        """Conditions whose dimensions are the handles of loops."""
        handles, (forms,) = over_positions([[c.form for c in conditions]])
        set_ = tuple(Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True))
        return StorePredicateOp.create(
            operands=handles,
            properties={"stage": StringAttr(stage), "set": IndexSetAttr(IndexSet(len(handles), set_))},
        )

    def verify_(self) -> None:
        if self.set.data.dims != len(self.loops):
            raise VerifyException(
                f"the conditions have {self.set.data.dims} dimensions, the op {len(self.loops)} loops"
            )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" where ")
        print_conditions(printer, self.set.data, self.loops)
        printer.print_op_attributes(self.attributes)

    @classmethod
    def parse(cls, parser: Parser) -> StorePredicateOp:
        stage = parser.parse_str_literal("the stage's name")
        parser.parse_keyword("where")
        dims = InlineDims(parser)
        conditions = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_condition(parser, dims))
        kept = dims.settle_conditions(conditions)
        loops = parser.resolve_operands(dims.operands, [LOOP] * len(dims.operands), parser.pos)
        set_ = IndexSetAttr(IndexSet(len(loops), kept))
        return cls.create(operands=loops, properties={"stage": StringAttr(stage), "set": set_})

    def apply(self, state: ScheduleState) -> None:
        from lamina.dialects.schedule.nest.annotations import store_predicate

        variables = [state.loop(v).var for v in self.loops]
        conditions = self.set.data.conditions
        forms = over_values([c.form for c in conditions], variables)
        asked = [Condition(f, c.equal) for f, c in zip(forms, conditions, strict=True)]
        store_predicate(state.func, self.stage.data, asked)
