"""The te dialect: what each element of a tensor is, as an index equation.

    te.func @f(%X: tensor<8xf32>) -> tensor<4xf32> {
      %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
        %x = te.read %X[%i * 2 + %k] : tensor<8xf32>
        te.yield %x : f32
      }
      te.return %y : tensor<4xf32>
    }

A `te.compute` has its spatial dimensions first, then the reduced ones. A guarded read (`where [...]`) gives zero
and touches no memory where a condition fails: padding, concatenation and windows all use it. The schedule ops are
in `schedule.py`, the Python spelling in `lib.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, cast

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    FunctionType,
    IndexType,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    i64,
)
from xdsl.dialects.utils import parse_func_op_like, print_func_op_like
from xdsl.ir import Attribute, Block, OpResult, Region, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    region_def,
    result_def,
    traits_def,
    var_operand_def,
    var_region_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, IsTerminator, Pure, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from lamina.dialects.checks import CheckOpBase
from lamina.dialects.dtypes import scalar_type
from lamina.dialects.index.accesses import (
    ConditionOpBase,
    IndexOpBase,
    over_positions,
    over_values,
    parse_access,
    print_access,
    verify_access,
)
from lamina.dialects.index.index_map import (
    IndexMap,
    IndexMapAttr,
    IndexSet,
    IndexSetAttr,
    InlineDims,
    parse_linear,
    print_indices,
)
from lamina.dialects.index.linear import MAX_EXTENT, Linear, Range, constant
from lamina.dialects.index.sizes import ArgAttrs, shape_attrs, verify_shapes, verify_storage
from lamina.dialects.region_text import print_body
from lamina.dialects.te.reducers import (
    REGION_COMBINER,
    element_types,
    parse_reducer,
    print_reducer,
    verify_reducer,
)

Combiner = Literal["sum", "prod", "max", "min"]
COMBINERS: tuple[Combiner, ...] = ("sum", "prod", "max", "min")

__all__ = [
    "CallOp",
    "CheckOp",
    "ComputeOp",
    "ConditionOp",
    "FuncOp",
    "IndexOp",
    "ParamOp",
    "ReadOp",
    "ReturnOp",
    "YieldOp",
]


@irdl_op_definition
class FuncOp(IRDLOperation):
    """A tensor program: arguments and results are tensors, the body a list of computes."""

    name = "te.func"

    sym_name = prop_def(SymbolNameConstraint())
    function_type = prop_def(FunctionType)
    arg_attrs = opt_prop_def(ArrayAttr)
    res_attrs = opt_prop_def(ArrayAttr)
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), SymbolOpInterface())

    @staticmethod
    def make(
        name: str,
        arg_types: Sequence[Attribute],
        result_types: Sequence[Attribute],
        shapes: Sequence[IndexMapAttr | None] | None = None,
    ) -> FuncOp:
        """A function without a body. `shapes` gives the extents of arguments that have an unknown one."""
        block = Block(arg_types=arg_types)
        func = FuncOp.create(
            properties={
                "sym_name": StringAttr(name),
                "function_type": FunctionType.from_lists(list(arg_types), list(result_types)),
            },
            regions=[Region(block)],
        )
        if shapes is not None and any(s is not None for s in shapes):
            func.properties["arg_attrs"] = shape_attrs(shapes)
        return func

    def verify_(self) -> None:
        if tuple(self.function_type.inputs) != self.body.block.arg_types:
            raise VerifyException("the function type's inputs differ from the body's arguments")
        last = self.body.block.last_op
        if not isinstance(last, ReturnOp):
            raise VerifyException("the body ends without te.return")
        if tuple(self.function_type.outputs) != tuple(last.operand_types):
            raise VerifyException("te.return's types differ from the function type's results")
        for n, type_ in enumerate(self.function_type.inputs):
            if not isinstance(type_, (IndexType, TensorType)):
                raise VerifyException(f"argument {n} is {type_}; a tensor program takes tensors and sizes (index)")
        verify_shapes(self.body.block.args, cast("ArgAttrs", self.arg_attrs))

    def argument_range(self, index: int) -> Range:
        """The bounds of a size."""
        return 0, MAX_EXTENT

    def print(self, printer: Printer) -> None:
        print_func_op_like(
            printer,
            self.sym_name,
            self.function_type,
            self.body,
            self.attributes,
            arg_attrs=cast("ArrayAttr[DictionaryAttr] | None", self.arg_attrs),
            res_attrs=cast("ArrayAttr[DictionaryAttr] | None", self.res_attrs),
            reserved_attr_names=("sym_name", "function_type", "arg_attrs", "res_attrs"),
        )

    @classmethod
    def parse(cls, parser: Parser) -> FuncOp:
        name, inputs, outputs, region, extra, arg_attrs, res_attrs = parse_func_op_like(
            parser, reserved_attr_names=("sym_name", "function_type")
        )
        properties: dict[str, Attribute] = {
            "sym_name": StringAttr(name),
            "function_type": FunctionType.from_lists(list(inputs), list(outputs)),
        }
        if arg_attrs is not None:
            properties["arg_attrs"] = arg_attrs
        if res_attrs is not None:
            properties["res_attrs"] = res_attrs
        return cls.create(properties=properties, attributes=extra.data if extra else {}, regions=[region])


@irdl_op_definition
class ReturnOp(IRDLOperation):
    """The results of a te.func."""

    name = "te.return"
    values = var_operand_def()
    assembly_format = "attr-dict ($values^ `:` type($values))?"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class YieldOp(IRDLOperation):
    """The values of one element, or of one term of the reduction: one for each result."""

    name = "te.yield"
    values = var_operand_def()
    assembly_format = "$values attr-dict `:` type($values)"
    traits = traits_def(IsTerminator())


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """Each element of the result, by an index equation; with a combiner, reduced over the trailing dimensions.

    Extents may be forms over the function's sizes: `te.compute "C" [%n, 4] sum [%n * 2] (%i, %j, %k) : ...`.
    """

    name = "te.compute"

    sizes = var_operand_def(IndexType)
    stage = prop_def(StringAttr)
    shape = prop_def(DenseArrayBase.constr(i64))
    combiner = opt_prop_def(StringAttr)
    reduce_shape = opt_prop_def(DenseArrayBase.constr(i64))
    size_map = opt_prop_def(IndexMapAttr)
    body = region_def("single_block")
    reducer = var_region_def("single_block")
    tensors = var_result_def(TensorType)

    traits = traits_def(Pure())

    @staticmethod
    def make(
        stage: str,
        result_type: TensorType | Sequence[TensorType],
        reduce_shape: Sequence[int],
        combiner: str | None,
        block: Block,
        extents: Sequence[Linear] | None = None,
        reducer: Sequence[Block] = (),
    ) -> ComputeOp:
        """A compute; `extents` gives all extents, spatial and reduced, where one of them is no number.

        `reducer` is the combine and the identity block of the combiner "reduce".
        """
        types = [result_type] if isinstance(result_type, TensorType) else list(result_type)
        properties: dict[str, Attribute] = {
            "stage": StringAttr(stage),
            "shape": DenseArrayBase.from_list(i64, list(types[0].get_shape())),
        }
        if combiner is not None:
            properties["combiner"] = StringAttr(combiner)
            properties["reduce_shape"] = DenseArrayBase.from_list(i64, list(reduce_shape))
        operands: list[SSAValue] = []
        if extents is not None and any(not e.is_constant for e in extents):
            operands, (forms,) = over_positions([extents])
            properties["size_map"] = IndexMapAttr(IndexMap(len(operands), forms))
        return ComputeOp.create(
            operands=operands,
            properties=properties,
            result_types=types,
            regions=[Region(b) for b in (block, *reducer)],
        )

    @property
    def result(self) -> OpResult[TensorType]:
        """The only result; a compute of several values has `tensors`."""
        (only,) = self.tensors
        return only

    @property
    def spatial(self) -> tuple[int, ...]:
        """The extents of the result, DYNAMIC_INDEX for one that is no number."""
        return tuple(self.shape.get_values())

    @property
    def reduced(self) -> tuple[int, ...]:
        """The extents that are reduced over, DYNAMIC_INDEX for one that is no number."""
        return tuple(self.reduce_shape.get_values()) if self.reduce_shape else ()

    def extents(self) -> list[Linear]:
        """The extent of each dimension, spatial and then reduced."""
        if self.size_map is not None:
            return over_values(self.size_map.data.results, self.sizes)
        return [constant(e) for e in (*self.spatial, *self.reduced)]

    def argument_range(self, index: int) -> Range:
        """The bounds of a dimension."""
        extent = (*self.spatial, *self.reduced)[index]
        return 0, MAX_EXTENT - 1 if extent == DYNAMIC_INDEX else max(extent - 1, 0)

    def verify_(self) -> None:
        if not self.tensors:
            raise VerifyException("a compute has at least one result")
        for type_ in self.result_types:
            if cast("TensorType", type_).get_shape() != self.spatial:
                raise VerifyException(f"shape {list(self.spatial)} differs from the result type {type_}")
            verify_storage(type_, f"stage {self.stage.data!r}")
        if any(e > MAX_EXTENT for e in self.reduced):
            raise VerifyException(f"reduced extents {list(self.reduced)}: they are at most {MAX_EXTENT}")
        if (self.combiner is None) != (self.reduce_shape is None):
            raise VerifyException("a combiner and its reduced extents go together")
        combiner = self.combiner.data if self.combiner is not None else None
        if (combiner == REGION_COMBINER) != bool(self.reducer):
            raise VerifyException("`reduce [...]` goes with the regions `combine (...) {...} identity {...}`")
        if combiner == REGION_COMBINER:
            verify_reducer(self.reducer, self.result_types)
        elif combiner is not None and combiner not in COMBINERS:
            raise VerifyException(
                f"unknown combiner {combiner!r}; it is one of {', '.join(COMBINERS)}, or reduce with a combine region"
            )
        elif combiner is not None and len(self.tensors) != 1:
            raise VerifyException(f"{combiner} reduces one value; {len(self.tensors)} values take a combine region")
        block = self.body.block
        dims = len(self.spatial) + len(self.reduced)
        shape = (*self.spatial, *self.reduced)
        if (DYNAMIC_INDEX in shape) != (self.size_map is not None):
            raise VerifyException("sizes are given where an extent is unknown, and nowhere else")
        if self.size_map is not None:
            known, forms = self.size_map.data
            fits = known == len(self.sizes) and len(forms) == dims
            if not fits or any(e != DYNAMIC_INDEX and f != constant(e) for e, f in zip(shape, forms, strict=True)):
                raise VerifyException(f"the sizes do not give the extents {list(shape)}")
        if len(block.args) != dims:
            raise VerifyException(f"the body has {len(block.args)} dimensions, the shape and reduction {dims}")
        if any(not isinstance(a.type, IndexType) for a in block.args):
            raise VerifyException("the dimensions of the body are of type index")
        last = block.last_op
        if not isinstance(last, YieldOp):
            raise VerifyException("the body ends without te.yield")
        if len(last.values) != len(self.tensors):
            raise VerifyException(f"te.yield gives {len(last.values)} values for {len(self.tensors)} results")
        for given, held, type_ in zip(
            last.operand_types, element_types(self.result_types), self.result_types, strict=True
        ):
            if given != held:
                raise VerifyException(f"te.yield gives {given}, the tensor holds {_tensor_type(type_).element_type}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.stage.data)
        printer.print_string(" ")
        self._print_extents(printer, 0, len(self.spatial))
        if self.combiner is not None:
            printer.print_string(f" {self.combiner.data} ")
            self._print_extents(printer, len(self.spatial), None)
        printer.print_string(" ")
        block = self.body.block
        # The dimensions belong to the body, so their names live in its scope.
        printer.enter_scope()
        with printer.in_parens():
            printer.print_list(block.args, printer.print_ssa_value)
        printer.print_string(" : ")
        printer.print_list(self.result_types, printer.print_attribute)
        if self.attributes:
            printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" ")
        print_body(printer, self.body)
        printer.exit_scope()
        if self.reducer:
            print_reducer(printer, self.reducer)

    def _print_extents(self, printer: Printer, first: int, end: int | None) -> None:
        if self.size_map is None:
            printer.print_string(str(list((*self.spatial, *self.reduced)[first:end])))
        else:
            part = IndexMap(self.size_map.data.dims, self.size_map.data.results[first:end])
            print_indices(printer, part, self.sizes)

    @classmethod
    def parse(cls, parser: Parser) -> ComputeOp:
        stage = parser.parse_str_literal("the stage's name")
        dims = InlineDims(parser)
        spatial_extents = _parse_extents(parser, dims)
        combiner = parser.parse_optional_identifier()
        reduced_extents = _parse_extents(parser, dims) if combiner is not None else []
        spatial_forms, reduced_forms = dims.settle(spatial_extents, reduced_extents)
        operands = parser.resolve_operands(dims.operands, [IndexType()] * len(dims.operands), parser.pos)
        shape, reduced = (
            [e.const if e.is_constant else DYNAMIC_INDEX for e in f] for f in (spatial_forms, reduced_forms)
        )
        arguments = parser.parse_comma_separated_list(
            parser.Delimiter.PAREN, lambda: parser.parse_argument(expect_type=False)
        )
        parser.parse_punctuation(":")
        types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        for type_ in types:
            if type(type_) is not TensorType:
                parser.raise_error(f"te.compute gives tensors, not {type_}")
        extra = parser.parse_optional_attr_dict_with_keyword()
        region = parser.parse_region([a.resolve(IndexType()) for a in arguments])
        reducer = parse_reducer(parser, types)
        properties: dict[str, Attribute] = {
            "stage": StringAttr(stage),
            "shape": DenseArrayBase.from_list(i64, shape),
        }
        if combiner is not None:
            properties["combiner"] = StringAttr(combiner)
            properties["reduce_shape"] = DenseArrayBase.from_list(i64, reduced)
        if operands:
            properties["size_map"] = IndexMapAttr(IndexMap(len(operands), (*spatial_forms, *reduced_forms)))
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=extra.data if extra else {},
            result_types=types,
            regions=[region, *reducer],
        )


def _parse_extents(parser: Parser, dims: InlineDims) -> list[Linear]:
    def extent() -> Linear:
        start = parser.pos
        form = parse_linear(parser, dims)
        if form.is_constant and form.const < 0:
            parser.raise_error(f"the extent {form.const} is negative", start, parser.pos)
        return form

    return parser.parse_comma_separated_list(parser.Delimiter.SQUARE, extent)


def _tensor_type(type_: Attribute) -> TensorType[Attribute]:
    assert type(type_) is TensorType
    return type_


@irdl_op_definition
class ReadOp(IRDLOperation):
    """One element of a tensor. Under a failing guard the value is zero and nothing is read."""

    name = "te.read"

    tensor = operand_def(TensorType)
    indices = var_operand_def(IndexType)
    map = prop_def(IndexMapAttr)
    guard = opt_prop_def(IndexSetAttr)
    result = result_def()

    traits = traits_def(Pure())

    @staticmethod
    def make(tensor: SSAValue, indices: Sequence[SSAValue], map_: IndexMap, guard: IndexSet | None = None) -> ReadOp:
        properties: dict[str, Attribute] = {"map": IndexMapAttr(map_)}
        if guard is not None and guard.conditions:
            properties["guard"] = IndexSetAttr(guard)
        element = _tensor_type(tensor.type).element_type
        return ReadOp.create(operands=[tensor, *indices], properties=properties, result_types=[scalar_type(element)])

    def verify_(self) -> None:
        type_ = _tensor_type(self.tensor.type)
        verify_access(self.map.data, self.guard.data if self.guard else None, len(self.indices), type_.get_num_dims())
        if self.result.type != scalar_type(type_.element_type):
            raise VerifyException(f"reads {self.result.type} from {type_}")

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        print_access(printer, self.tensor, self.indices, self.map.data, self.guard.data if self.guard else None)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.tensor.type)

    @classmethod
    def parse(cls, parser: Parser) -> ReadOp:
        tensor, indices, properties = parse_access(parser)
        extra = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        if type(type_) is not TensorType:
            parser.raise_error("te.read reads a tensor")
        element = type_.element_type
        types: list[Attribute] = [type_, *[IndexType()] * len(indices)]
        operands = parser.resolve_operands([tensor, *indices], types, parser.pos)
        return cls.create(
            operands=operands,
            properties=properties,
            attributes=extra,
            result_types=[scalar_type(element)],
        )


@irdl_op_definition
class IndexOp(IndexOpBase):
    """The value of an index expression: `te.index [%i * 2 + 1] : index`."""

    name = "te.index"


@irdl_op_definition
class ConditionOp(ConditionOpBase):
    """Whether all conditions hold: `te.condition [%i - 1 >= 0, %i == 0] : i1`."""

    name = "te.condition"


@irdl_op_definition
class CheckOp(CheckOpBase):
    """A value; the program ends in an error where the condition fails: `te.check %b, %ok "message" : i32`."""

    name = "te.check"


@irdl_op_definition
class CallOp(IRDLOperation):
    """Runs a te.func on tensors: `%r = te.call @f(%x) : (tensor<8xf32>) -> tensor<4xf32>`."""

    name = "te.call"

    callee = prop_def(SymbolRefAttr)
    arguments = var_operand_def()
    res = var_result_def()
    assembly_format = "$callee `(` $arguments `)` attr-dict `:` functional-type($arguments, $res)"
    traits = traits_def(Pure())

    @staticmethod
    def make(callee: str, arguments: Sequence[SSAValue], result_types: Sequence[Attribute]) -> CallOp:
        return CallOp.create(
            properties={"callee": SymbolRefAttr(callee)},
            operands=list(arguments),
            result_types=list(result_types),
        )


@irdl_op_definition
class ParamOp(IRDLOperation):
    """A weight from the parameter store: `%w = te.param #relay.param<"conv1.weight"> : tensor<64x3xf32>`."""

    name = "te.param"

    param = prop_def()
    result = result_def()
    assembly_format = "$param attr-dict `:` type($result)"
    traits = traits_def(Pure())
