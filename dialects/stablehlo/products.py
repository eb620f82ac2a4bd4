"""StableHLO's sums of products: `dot_general` and `convolution`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DenseIntOrFPElementsAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.infos import TensorInfo
from lamina.dialects.stablehlo.attributes import (
    ConvolutionDims,
    ConvolutionRoles,
    DotRoles,
    ProductPrecision,
    ints_text,
    parse_convolution_dims,
    parse_ints,
    parse_word,
)
from lamina.dialects.stablehlo.base import HloOp, element, parse_operands


def _precisions(parser: Parser) -> Attribute:
    words = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: ProductPrecision(parse_word(parser, ProductPrecision.WORDS))
    )
    return ArrayAttr(words)


def _precisions_text(attr: Attribute) -> str:
    words: Any = attr
    return f"[{', '.join(w.data for w in words)}]"


@irdl_op_definition
class DotGeneralOp(HloOp):
    """Sums of products over the contracting dimensions, for each place in the batching dimensions."""

    name = "stablehlo.dot_general"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    dot_dimension_numbers = prop_def(DotRoles)
    precision_config = opt_prop_def(ArrayAttr)
    algorithm = opt_prop_def(Attribute)
    result = result_def(TensorType)

    def roles(self) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
        """The batching and the contracting dimensions of each side: lhs batch, rhs batch, lhs sum, rhs sum."""
        return tuple(self.dot_dimension_numbers.of(n) for n in DotRoles.LISTS)  # type: ignore[return-value]

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        x, y = types
        xb, yb, xc, yc = self.roles()
        if len(xb) != len(yb) or len(xc) != len(yc):
            raise ValueError("the two sides have different numbers of dimensions in a role")
        for info, dims in ((x, (*xb, *xc)), (y, (*yb, *yc))):
            if len(set(dims)) != len(dims) or any(not 0 <= d < len(info.shape) for d in dims):
                raise ValueError(f"the dimensions {list(dims)} of {info}")
        if [x.shape[d] for d in (*xb, *xc)] != [y.shape[d] for d in (*yb, *yc)]:
            raise ValueError("the two sides have different extents in a role")
        free = [e for d, e in enumerate(x.shape) if d not in (*xb, *xc)]
        free += [e for d, e in enumerate(y.shape) if d not in (*yb, *yc)]
        return TensorInfo((*(x.shape[d] for d in xb), *free), element(self.result.type))

    def print(self, printer: Printer) -> None:
        self.print_operands(printer)
        xb, yb, xc, yc = self.roles()
        if xb:
            printer.print_string(f", batching_dims = {ints_text(xb)} x {ints_text(yb)}")
        printer.print_string(f", contracting_dims = {ints_text(xc)} x {ints_text(yc)}")
        if self.precision_config is not None:
            printer.print_string(f", precision = {_precisions_text(self.precision_config)}")
        self.print_rest(printer, {"dot_dimension_numbers", "precision_config"})

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        operands = parse_operands(parser)
        properties: dict[str, Attribute] = {}
        roles: dict[str, tuple[int, ...]] = {}
        while parser.parse_optional_punctuation(","):
            position = parser.pos
            word = parser.parse_identifier()
            parser.parse_punctuation("=")
            if word in ("batching_dims", "contracting_dims"):
                role = word.removesuffix("_dims")
                roles[f"lhs_{role}_dimensions"] = parse_ints(parser)
                parser.parse_characters("x")
                roles[f"rhs_{role}_dimensions"] = parse_ints(parser)
            elif word == "precision":
                properties["precision_config"] = _precisions(parser)
            else:
                parser.raise_error("expected batching_dims, contracting_dims or precision", position, parser.pos)
        properties["dot_dimension_numbers"] = DotRoles(tuple(sorted(roles.items())))
        return cls.parse_rest(parser, operands, properties)


_WINDOW = (
    *(("stride", "window_strides"), ("pad", "padding"), ("lhs_dilate", "lhs_dilation")),
    *(("rhs_dilate", "rhs_dilation"), ("reverse", "window_reversal")),
)


@irdl_op_definition
class ConvolutionOp(HloOp):
    """Windows of the input times the kernel, with any order of dimensions, dilations of both, and groups."""

    name = "stablehlo.convolution"
    lhs = operand_def(TensorType)
    rhs = operand_def(TensorType)
    dimension_numbers = prop_def(ConvolutionRoles)
    window_strides = opt_prop_def(Attribute)
    padding = opt_prop_def(Attribute)
    lhs_dilation = opt_prop_def(Attribute)
    rhs_dilation = opt_prop_def(Attribute)
    window_reversal = opt_prop_def(Attribute)
    feature_group_count = opt_prop_def(IntegerAttr)
    batch_group_count = opt_prop_def(IntegerAttr)
    precision_config = opt_prop_def(ArrayAttr)
    result = result_def(TensorType)

    @property
    def dims(self) -> ConvolutionDims:
        """The roles of the dimensions."""
        return self.dimension_numbers.data

    def window(self, name: str, default: int = 1) -> tuple[int, ...]:
        """A number for each spatial dimension."""
        return self.ints(name, [default] * self.dims.spatial)

    def pads(self) -> tuple[tuple[int, int], ...]:
        """The padding before and behind, for each spatial dimension."""
        flat = self.ints("padding", [0] * 2 * self.dims.spatial)
        return tuple(zip(flat[::2], flat[1::2], strict=True))

    def result_info(self, *types: TensorInfo) -> TensorInfo:
        dims, (x, w) = self.dims, types
        if not len(x.shape) == len(w.shape) == len(dims.input):
            raise ValueError(f"the dimensions are {dims}")
        xs, ws = dict(zip(dims.input, x.shape, strict=True)), dict(zip(dims.kernel, w.shape, strict=True))
        groups, batches = self.number("feature_group_count", 1), self.number("batch_group_count", 1)
        if groups < 1 or batches < 1 or groups > 1 and batches > 1:
            raise ValueError(f"{groups} groups of features, {batches} of batches")
        if xs["f"] != ws["i"] * groups or ws["o"] % (groups * batches) or xs["b"] % batches:
            raise ValueError(
                f"{xs['f']} channels in {groups} groups for a kernel that takes {ws['i']} and gives {ws['o']}"
            )
        lists = [self.window(n) for n in ("window_strides", "lhs_dilation", "rhs_dilation")]
        pads = self.pads()
        if any(len(v) != dims.spatial for v in (*lists, pads)) or any(min(v, default=1) < 1 for v in lists):
            raise ValueError("a window's list is too short, or not positive")
        out = {"b": xs["b"] // batches, "f": ws["o"]}
        for n, (stride, spread, apart, (low, high)) in enumerate(zip(*lists, pads, strict=True)):
            have = (max(xs[str(n)] - 1, 0) * spread + min(xs[str(n)], 1)) + low + high
            need = (ws[str(n)] - 1) * apart + 1
            out[str(n)] = (have - need) // stride + 1 if have >= need and ws[str(n)] else 0
        return TensorInfo(tuple(out[r] for r in dims.output), element(self.result.type))

    def print(self, printer: Printer) -> None:
        printer.print_string("(")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_string(f") dim_numbers = {self.dims}, window = {{{', '.join(self._window_texts())}}}")
        self.print_rest(printer, {"dimension_numbers", *(name for _, name in _WINDOW)})

    def _window_texts(self) -> list[str]:
        found: list[str] = []
        for keyword, name in _WINDOW:
            if self.properties.get(name) is None:
                continue
            if name == "padding":
                found.append(f"pad = [{', '.join(ints_text(p) for p in self.pads())}]")
            elif name == "window_reversal":
                found.append(f"reverse = [{', '.join('true' if v else 'false' for v in self.ints(name))}]")
            else:
                found.append(f"{keyword} = {ints_text(self.ints(name))}")
        return found

    @classmethod
    def parse(cls, parser: Parser) -> Any:
        with parser.in_parens():
            operands = parse_operands(parser)
        parser.parse_keyword("dim_numbers")
        parser.parse_punctuation("=")
        properties: dict[str, Attribute] = {"dimension_numbers": ConvolutionRoles(parse_convolution_dims(parser))}
        parser.parse_punctuation(",")
        parser.parse_keyword("window")
        parser.parse_punctuation("=")
        names = dict(_WINDOW)
        parser.parse_punctuation("{")
        while not parser.parse_optional_punctuation("}"):
            position = parser.pos
            name = names.pop(parser.parse_identifier(), None)
            if name is None:
                parser.raise_error(f"expected {', '.join(names)}", position, parser.pos)
            parser.parse_punctuation("=")
            properties[name] = _window_entry(parser, name)
            if not parser.parse_optional_punctuation(","):
                parser.parse_punctuation("}")
                break
        return cls.parse_rest(parser, operands, properties)


def _window_entry(parser: Parser, name: str) -> Attribute:
    if name == "padding":
        pairs = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_ints(parser))
        if any(len(p) != 2 for p in pairs):
            parser.raise_error("expected two numbers for each dimension")
        return pairs_attribute(pairs)
    if name == "window_reversal":
        from xdsl.dialects.builtin import i1

        flags = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: int(parser.parse_boolean()))
        return DenseArrayBase.from_list(i1, flags)
    return DenseArrayBase.from_list(i64, parse_ints(parser))


def pairs_attribute(pairs: Sequence[Sequence[int]]) -> Attribute:
    """Numbers before and behind each dimension, as `dense<[[1, 2]]> : tensor<1x2xi64>`."""
    return DenseIntOrFPElementsAttr.from_list(TensorType(i64, [len(pairs), 2]), [v for p in pairs for v in p])
