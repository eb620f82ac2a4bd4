"""Functions that JAX leaves to its library: the dialect `chlo`, whose text is `chlo.erf %x : t -> t`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from lamina.dialects.infos import TypeMismatch
from lamina.dialects.lazy import np
from lamina.dialects.relay.families import NUMBERS
from lamina.dialects.stablehlo.elementwise import BinaryHlo, UnaryHlo, declared, exact


def _erf(x: Any) -> Any:
    from math import erf

    return np.vectorize(erf, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


def _erfc(x: Any) -> Any:
    from math import erfc

    return np.vectorize(erfc, otypes=[np.float64])(x.astype(np.float64)).astype(x.dtype)


class ChloText:
    """The text of CHLO's ops: `chlo.erf %x : t -> t`."""

    def print_types(self: Any, printer: Printer) -> None:
        printer.print_list(self.operand_types, printer.print_attribute)
        printer.print_string(" -> ")
        printer.print_list(self.result_types, printer.print_attribute)

    @classmethod
    def parse_types(cls, parser: Parser, count: int) -> tuple[list[Attribute], list[Attribute]]:
        inputs = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
        parser.parse_punctuation("->")
        return [*inputs], parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)


class UnaryChlo(ChloText, UnaryHlo):
    """One operand, in CHLO's text."""


class BinaryChlo(ChloText, BinaryHlo):
    """Two operands, in CHLO's text."""


def _chlo(
    name: str, title: str, oracle: Callable[[Any], Any] | None = None, base: Any = UnaryChlo, **facts: Any
) -> Any:
    return declared(base, f"chlo.{name}", title, oracle or _unknown, facts)


def _unknown(*_: Any) -> Any:
    raise TypeMismatch("has no value before it is lowered")


# fmt: off
ChloAcosOp = _chlo("acos", "arccos(x)", exact("arccos"), ranges=((-1.0, 1.0),))
ChloAcoshOp = _chlo("acosh", "arcosh(x)", exact("arccosh"), ranges=((1.0, 5.0),))
ChloAsinOp = _chlo("asin", "arcsin(x)", exact("arcsin"), ranges=((-1.0, 1.0),))
ChloAsinhOp = _chlo("asinh", "arsinh(x)", exact("arcsinh"))
ChloAtanOp = _chlo("atan", "arctan(x)", exact("arctan"))
ChloAtanhOp = _chlo("atanh", "artanh(x)", exact("arctanh"), ranges=((-0.9, 0.9),))
ChloCoshOp = _chlo("cosh", "cosh(x)", exact("cosh"))
ChloErfOp = _chlo("erf", "the error function of x", _erf)
ChloErfcOp = _chlo("erfc", "1 - erf(x)", _erfc, ranges=((-2.0, 2.0),))
ChloErfInvOp = _chlo("erf_inv", "the number whose error function is x")
ChloIsInfOp = _chlo("is_inf", "whether x is infinite", lambda x: np.isinf(x), result_dtype="bool")
ChloIsNegInfOp = _chlo("is_neg_inf", "whether x is -infinity", lambda x: x == -np.inf, result_dtype="bool",
    dtypes=("float32", "float64"))
ChloIsPosInfOp = _chlo("is_pos_inf", "whether x is infinity", lambda x: x == np.inf, result_dtype="bool",
    dtypes=("float32", "float64"))
ChloSinhOp = _chlo("sinh", "sinh(x)", exact("sinh"))
ChloSquareOp = _chlo("square", "x * x", lambda x: x * x, dtypes=NUMBERS)
ChloTanOp = _chlo("tan", "tan(x)", exact("tan"), ranges=((-1.4, 1.4),))
ChloLgammaOp = _chlo("lgamma", "ln(|gamma(x)|)")
ChloDigammaOp = _chlo("digamma", "the derivative of lgamma")
ChloBesselOp = _chlo("bessel_i1e", "the Bessel function of order 1, times e^-|x|")
ChloNextAfterOp = _chlo("next_after", "the number next to lhs on the way to rhs", base=BinaryChlo)
ChloZetaOp = _chlo("zeta", "Hurwitz's zeta function", base=BinaryChlo)
ChloPolygammaOp = _chlo("polygamma", "a derivative of digamma", base=BinaryChlo)
# fmt: on
