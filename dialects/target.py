"""The dialect `lamina`: what a module says about itself. So far the machine that it is compiled for.

    builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4",
        features = "+avx2,+avx512f", vector_bits = 512, registers = 32, threads = 1>} { ... }

Passes read the target from the module attribute `lamina.target` and nowhere else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from math import isfinite
from typing import Any

from xdsl.dialects.builtin import IntAttr, ModuleOp, StringAttr
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

TARGET = "lamina.target"
"""The module attribute that holds the target."""

_TEXTS = ("triple", "cpu", "features")
_OPTIONAL = ("backends", "kind", "figures")
"""Printed where they are not empty."""
_NUMBERS = ("vector_bits", "registers", "threads")

_DOT_BITS = 512
_DOT_PRODUCTS = (
    ("avx512vnni", ("uint8", "int8", "int32"), 4),
    ("avx512bf16", ("bfloat16", "bfloat16", "float32"), 2),
)
"""Of vectors of so many bits: vpdpbusd takes four bytes, vdpbf16ps two bfloat16 numbers."""


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text))
    except ValueError:
        return False


@irdl_attr_definition
class TargetAttr(ParametrizedAttribute):
    """A machine: LLVM's triple, cpu and features, and the figures that schedules need."""

    name = "lamina.target"

    triple: StringAttr
    cpu: StringAttr
    features: StringAttr
    vector_bits: IntAttr
    registers: IntAttr
    threads: IntAttr
    backends: StringAttr
    """The external compilers that may take parts of a program, the preferred one first: `openblas,dnnl`."""
    kind: StringAttr
    """The backend whose passes compile for it, `backends/<kind>/pipeline.py`; empty for the CPU that compiles."""
    figures: StringAttr
    """Figures of its cores and caches, as the backend writes them; empty for those that come with its name."""

    @staticmethod
    def get(
        triple: str,
        cpu: str,
        features: str,
        vector_bits: int,
        registers: int,
        threads: int = 1,
        backends: str = "",
        kind: str = "",
        figures: str = "",
    ) -> TargetAttr:
        return TargetAttr(
            StringAttr(triple),
            StringAttr(cpu),
            StringAttr(features),
            IntAttr(vector_bits),
            IntAttr(registers),
            IntAttr(threads),
            StringAttr(backends),
            StringAttr(kind),
            StringAttr(figures),
        )

    def verify(self) -> None:
        bits = self.vector_bits.data
        if bits < 32 or bits & (bits - 1):
            raise VerifyException(f"vector_bits is a power of two of at least 32, not {bits}")
        if self.registers.data < 1:
            raise VerifyException(f"registers is at least 1, not {self.registers.data}")
        if self.threads.data < 1:
            raise VerifyException(f"threads is at least 1, not {self.threads.data}")
        words = self.figures.data.split()
        if len(words) % 2 or not all(map(_is_number, words[1::2])):
            raise VerifyException("figures is a text of names and numbers by turns")
        for feature in self.feature_list():
            if feature[0] not in "+-":
                raise VerifyException(f"feature '{feature}' does not start with + or -")

    def feature_list(self) -> list[str]:
        return [f for f in self.features.data.split(",") if f]

    def figure(self, name: str) -> float | None:
        """A figure that the target says; None where it does not."""
        words = self.figures.data.split()
        said = dict(zip(words[::2], words[1::2], strict=False))
        return float(said[name]) if name in said else None

    def has_feature(self, feature: str) -> bool:
        """Whether the instruction set extension is there, e.g. `avx512f`."""
        return f"+{feature}" in self.feature_list()

    def multiplies_and_adds(self) -> bool:
        """Whether a multiply-add that rounds once is an instruction, and no call of a library."""
        has = any(map(self.has_feature, ("fma", "avx512f")))  # the second has it too
        return has or not self.triple.data.startswith(("x86_64", "wasm"))

    def wants_growing_addresses(self) -> bool:
        """Whether an access adds a constant to its address only where that is known not to wrap around."""
        return self.triple.data.startswith("wasm")

    def fetches_ahead(self) -> bool:
        """Whether there is an instruction that asks for memory ahead of time."""
        return not self.triple.data.startswith("wasm")

    def has_bf16(self) -> bool:
        """Whether LLVM makes code for a bfloat16 at all: for WebAssembly it ends the process."""
        return not self.triple.data.startswith("wasm")

    def rounds_to_bf16(self) -> bool:
        """Whether a float32 becomes a bfloat16 by an instruction, and by no call of a library for each lane."""
        if self.triple.data.startswith("x86_64"):
            return self.has_feature("avx512bf16") or self.has_feature("avxneconvert")
        return self.has_feature("bf16") or self.kind.data != ""  # devices round by an instruction

    def lanes(self, element_bits: int) -> int:
        """Elements of one vector register."""
        return max(1, self.vector_bits.data // element_bits)

    def dot_products(self) -> dict[tuple[str, str, str], int]:
        """Neighbours that an instruction multiplies and adds up at once, by the dtypes of factors and sum."""
        if self.vector_bits.data != _DOT_BITS:
            return {}
        return {dtypes: count for feature, dtypes, count in _DOT_PRODUCTS if self.has_feature(feature)}

    def has_short_vectors(self) -> bool:
        """Whether vectors of half the bits have the masks and instructions of whole ones."""
        return self.has_feature("avx512vl")

    def with_threads(self, threads: int) -> TargetAttr:
        return self._with(threads=IntAttr(threads))

    def with_figures(self, figures: str) -> TargetAttr:
        return self._with(figures=StringAttr(figures))

    def backend_list(self) -> tuple[str, ...]:
        """The external compilers, the preferred one first."""
        return tuple(b for b in self.backends.data.split(",") if b)

    def with_backends(self, backends: Sequence[str]) -> TargetAttr:
        return self._with(backends=StringAttr(",".join(backends)))

    def _with(self, **changed: IntAttr | StringAttr) -> TargetAttr:
        values: list[Any] = [changed.get(name, getattr(self, name)) for name in (*_TEXTS, *_NUMBERS, *_OPTIONAL)]
        return TargetAttr(*values)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            for name in _TEXTS:
                printer.print_string(f"{name} = ")
                printer.print_string_literal(getattr(self, name).data)
                printer.print_string(", ")
            printer.print_string(", ".join(f"{name} = {getattr(self, name).data}" for name in _NUMBERS))
            for name in _OPTIONAL:
                if getattr(self, name).data:
                    printer.print_string(f", {name} = ")
                    printer.print_string_literal(getattr(self, name).data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        parameters: list[Attribute] = []
        with parser.in_angle_brackets():
            for name in (*_TEXTS, *_NUMBERS):
                if parameters:
                    parser.parse_punctuation(",")
                parser.parse_keyword(name)
                parser.parse_punctuation("=")
                if name in _TEXTS:
                    parameters.append(StringAttr(parser.parse_str_literal()))
                else:
                    parameters.append(IntAttr(parser.parse_integer(allow_boolean=False)))
            given: dict[str, str] = dict.fromkeys(_OPTIONAL, "")
            while parser.parse_optional_punctuation(",") is not None:
                name = parser.parse_keyword_in(_OPTIONAL)
                parser.parse_punctuation("=")
                given[name] = parser.parse_str_literal()
            parameters.extend(map(StringAttr, given.values()))
        return parameters


def module_target(module: ModuleOp) -> TargetAttr | None:
    """The target that the module is compiled for, None when it names none."""
    target = module.attributes.get(TARGET)
    if target is not None and not isinstance(target, TargetAttr):
        raise VerifyException(f"the module's {TARGET} is {target}, not #lamina.target<triple = ..., cpu = ..., ...>")
    return target


def target_of(op: Operation) -> TargetAttr | None:
    """The target of the module that an op stands in, None where that names none."""
    while (parent := op.parent_op()) is not None:
        op = parent
    return module_target(op) if isinstance(op, ModuleOp) else None


def machine_of(target: TargetAttr) -> str:
    """The part of a target that decides which choices are good: processor, vectors, registers, and a digest of its
    figures where it says some; not the threads."""
    triple, cpu, figures = target.triple.data, target.cpu.data, target.figures.data
    digest = f" figures {hashlib.sha256(figures.encode()).hexdigest()[:12]}" if figures else ""
    return f"{triple} {cpu} {target.vector_bits.data} {target.registers.data}{digest}"


LAMINA = Dialect("lamina", [], [TargetAttr])
