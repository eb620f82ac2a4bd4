"""Attributes of StableHLO: words of an enumeration, and the roles of dimensions.

#stablehlo<comparison_direction LT>
#stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>
#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>
"""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from xdsl.ir import Data, OpaqueSyntaxAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer


class Word(OpaqueSyntaxAttribute, Data[str]):
    """Base of enumerations: one word of a few."""

    WORDS: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> str:
        return parse_word(parser, cls.WORDS)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f" {self.data}")


def parse_word(parser: AttrParser, words: tuple[str, ...]) -> str:
    """One of the words. Raises ParseError, naming them."""
    position = parser.pos
    word = parser.parse_optional_identifier()
    if word not in words:
        parser.raise_error(f"expected one of {', '.join(words)}", position, parser.pos)
    return word


@irdl_attr_definition
class ComparisonDirection(Word):
    """The relation that `compare` asks for."""

    name = "stablehlo.comparison_direction"
    WORDS: ClassVar = ("EQ", "NE", "GE", "GT", "LE", "LT")


@irdl_attr_definition
class ComparisonType(Word):
    """The order that `compare` means."""

    name = "stablehlo.comparison_type"
    WORDS: ClassVar = ("NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED")


@irdl_attr_definition
class ProductPrecision(Word):
    """The precision of an operand of a product; on this machine all are the highest."""

    name = "stablehlo.precision"
    WORDS: ClassVar = ("DEFAULT", "HIGH", "HIGHEST")


@irdl_attr_definition
class TransposeWord(Word):
    """The form in which `triangular_solve` takes its matrix."""

    name = "stablehlo.transpose"
    WORDS: ClassVar = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


@irdl_attr_definition
class FourierType(Word):
    """The kind of a Fourier transform."""

    name = "stablehlo.fft_type"
    WORDS: ClassVar = ("FFT", "IFFT", "RFFT", "IRFFT")


@irdl_attr_definition
class RandomAlgorithm(Word):
    """The generator of `rng_bit_generator`."""

    name = "stablehlo.rng_algorithm"
    WORDS: ClassVar = ("DEFAULT", "THREE_FRY", "PHILOX")


@irdl_attr_definition
class RandomDistribution(Word):
    """The distribution of `rng`."""

    name = "stablehlo.rng_distribution"
    WORDS: ClassVar = ("UNIFORM", "NORMAL")


# -- roles of dimensions ----------------------------------------------------------------------------


def parse_ints(parser: AttrParser) -> tuple[int, ...]:
    """`[0, 2]`."""
    return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parser.parse_integer(True, True)))


def ints_text(values: tuple[int, ...]) -> str:
    """`[0, 2]`."""
    return f"[{', '.join(map(str, values))}]"


class Roles(Data[Any]):
    """Base of lists of dimensions by name; those that are empty, or 0, are not printed."""

    LISTS: ClassVar[tuple[str, ...]] = ()
    NUMBERS: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> tuple[tuple[str, Any], ...]:
        found: dict[str, Any] = {}
        with parser.in_angle_brackets():
            while parser.parse_optional_characters(">") is None:
                position = parser.pos
                name = parser.parse_identifier()
                parser.parse_punctuation("=")
                if name in found:
                    parser.raise_error(f"{name!r} is given twice", position)
                if name in cls.LISTS:
                    found[name] = parse_ints(parser)
                elif name in cls.NUMBERS:
                    found[name] = parser.parse_integer(True, True)
                else:
                    known = ", ".join((*cls.LISTS, *cls.NUMBERS))
                    parser.raise_error(f"no {name!r} in #{cls.name}; there are {known}", position)
                if parser.parse_optional_punctuation(",") is None:
                    break
            else:
                return tuple(sorted(found.items()))
        return tuple(sorted(found.items()))

    def print_parameter(self, printer: Printer) -> None:
        given = dict(self.data)
        parts = [f"{n} = {ints_text(given[n])}" for n in self.LISTS if given.get(n)]
        parts += [f"{n} = {given[n]}" for n in self.NUMBERS if given.get(n)]
        printer.print_string(f"<{', '.join(parts)}>")

    def of(self, name: str) -> Any:
        """A list of dimensions, or a number, by its name; empty or 0 where it is not given."""
        return dict(self.data).get(name, 0 if name in self.NUMBERS else ())


@irdl_attr_definition
class GatherRoles(Roles):
    """The roles of dimensions of a gather."""

    name = "stablehlo.gather"
    LISTS: ClassVar = (
        *("offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims"),
        "start_index_map",
    )
    NUMBERS: ClassVar = ("index_vector_dim",)


@irdl_attr_definition
class ScatterRoles(Roles):
    """The roles of dimensions of a scatter."""

    name = "stablehlo.scatter"
    LISTS: ClassVar = (
        *("update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims"),
        "scatter_dims_to_operand_dims",
    )
    NUMBERS: ClassVar = ("index_vector_dim",)


@irdl_attr_definition
class DotRoles(Roles):
    """The roles of dimensions of a product."""

    name = "stablehlo.dot"
    LISTS: ClassVar = (
        *("lhs_batching_dimensions", "rhs_batching_dimensions"),
        *("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
    )


class ConvolutionDims(NamedTuple):
    """The roles of the dimensions of input, kernel and output: `b`, `f`, `i`, `o`, or the number of a spatial one."""

    input: tuple[str, ...]
    kernel: tuple[str, ...]
    output: tuple[str, ...]

    @property
    def spatial(self) -> int:
        """The number of spatial dimensions."""
        return sum(r.isdecimal() for r in self.input)

    def __str__(self) -> str:
        parts = [f"[{', '.join(side)}]" for side in self]
        return f"{parts[0]}x{parts[1]}->{parts[2]}"


@irdl_attr_definition
class ConvolutionRoles(Data[ConvolutionDims]):
    """The roles of dimensions of a convolution."""

    name = "stablehlo.conv"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> ConvolutionDims:
        with parser.in_angle_brackets():
            return parse_convolution_dims(parser)

    def print_parameter(self, printer: Printer) -> None:
        printer.print_string(f"<{self.data}>")


def parse_convolution_dims(parser: AttrParser) -> ConvolutionDims:
    """`[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`. Raises ParseError where a role is missing or given twice."""

    def role() -> str:
        number = parser.parse_optional_integer(False, False)
        return str(number) if number is not None else parser.parse_identifier()

    start = parser.pos
    sides: list[tuple[str, ...]] = []
    for n, letters in enumerate(("bf", "io", "bf")):
        if n == 1:
            parser.parse_characters("x")
        elif n == 2:
            parser.parse_punctuation("->")
        side = tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, role))
        wanted = sorted([*letters, *map(str, range(len(side) - 2))])
        if sorted(side) != wanted or n and len(side) != len(sides[0]):
            parser.raise_error(f"expected the dimensions {', '.join(wanted)}, each once", start, parser.pos)
        sides.append(side)
    return ConvolutionDims(*sides)
