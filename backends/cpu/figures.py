"""Figures of a processor: what its cores do in a cycle, where its caches end, how fast each level is read.

They are what schedules compute their choices from. Those of known processors are here; `lamina calibrate` measures
those of the machine at hand and keeps them in the cache folder, where `machines.host` finds them. A target with
measured ones says them in its text, so that a build says what it was made from:

    #lamina.target<..., figures = "fma 2 latency 4 load 2 broadcast 2 store 1 ...">

Rates are operations on whole vectors in a cycle of the core.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from lamina.dialects.machine_spec import TargetSpec
from lamina.errors import InputError

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

AGAIN = "`lamina calibrate` measures them anew"
LINE_BYTES = 64
"""Bytes of a cache line."""


@dataclass(frozen=True, kw_only=True)
class Figures:
    """The figures of a processor."""

    gigahertz: float
    """Cycles of a core in a nanosecond: those in which the other figures count."""
    fma: float
    """Multiply-adds of vectors in registers."""
    latency: float
    """Cycles from a multiply-add to the next one of the same sum."""
    load: float
    """Loads of vectors from the first-level cache."""
    broadcast: float
    """Loads of an element into all lanes."""
    store: float
    """Stores of vectors."""
    fma_load: float
    """Multiply-adds of which one factor is a vector in the first-level cache."""
    fma_broadcast: float
    """Multiply-adds of which one factor is an element in the first-level cache, by however many instructions."""
    step: float
    """Cycles that a step of a register tile takes beyond its multiply-adds or loads, whichever are longer."""
    body_bytes: int
    """Bytes of code in a loop from which on it takes longer than the same steps in a shorter one."""
    l1_bytes: int
    """Bytes of a core's first-level data cache."""
    l1_ways: int
    """Lines that it holds of addresses that are equal modulo its size by its ways."""
    l2_bytes: int
    """Bytes of a core's second-level cache."""
    l3_bytes: int
    """Bytes of the last-level cache that one of its users finds again."""
    l2_speed: float
    """Bytes that a core reads in a cycle from its second-level cache."""
    l3_speed: float
    """The same from the last-level cache."""
    memory_speed: float
    """The same from memory, in one stream."""
    l3_speed_shared: float
    """Bytes that a core reads in a cycle from the last-level cache while all others do."""
    memory_speed_shared: float
    """The same from memory."""
    barrier: float
    """Cycles that a parallel loop takes beyond its iterations."""

    @property
    def l1_period(self) -> int:
        """Bytes after which addresses share lines of the first-level cache."""
        return self.l1_bytes // self.l1_ways

    def text(self) -> str:
        """All of them in one line, `name value` each."""
        return " ".join(f"{f.name} {_number(getattr(self, f.name))}" for f in fields(self))

    @staticmethod
    def of_text(text: str, where: str = "figures") -> Figures:
        """The figures that `text` has written. Raises InputError naming what is missing, unknown or no number."""
        words = text.split()
        values = dict(zip(words[::2], words[1::2], strict=False))
        if 2 * len(values) != len(words):
            raise InputError("a figure is a name and a number, each name once", where=where, hint=AGAIN)
        return Figures.of(values, where)

    @staticmethod
    def of(values: Mapping[str, Any], where: str) -> Figures:
        """Figures by name. Raises InputError for what is missing, unknown, no positive number, or no cache."""
        known = {f.name: f for f in fields(Figures)}
        for name in (*values, *known):
            if name not in values or name not in known:
                raise InputError(f"{'no' if name in known else 'unknown'} figure {name!r}", where=where, hint=AGAIN)
        read: dict[str, Any] = {}
        for name, value in values.items():
            whole = known[name].type == "int"
            try:
                number = float(value)
            except (TypeError, ValueError):
                number = 0.0
            if not 0 < number < 1e15 or whole and number < 1:
                what = "whole positive number" if whole else "positive number"
                raise InputError(f"{name} is {value!r}, no {what}", where=where, hint=AGAIN)
            read[name] = int(number) if whole else number
        found = Figures(**read)
        if found.l1_period < LINE_BYTES:
            what = (
                f"l1_bytes is {found.l1_bytes}, less than a line of {LINE_BYTES} bytes for each of {found.l1_ways} ways"
            )
            raise InputError(what, where=where, hint=AGAIN)
        return found


def _number(value: float) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


# -- known processors ----------------------------------------------------------------------------------------------

ZEN3 = Figures(
    gigahertz=3.2, fma=2, latency=4, load=2, broadcast=2, store=1, fma_load=2, fma_broadcast=1.5, step=0.1,
    body_bytes=8500, l1_bytes=32 << 10, l1_ways=8, l2_bytes=512 << 10, l3_bytes=16 << 20,
    l2_speed=31.8, l3_speed=19.5, memory_speed=7, l3_speed_shared=11.4, memory_speed_shared=3.8, barrier=2000,
)  # fmt: skip
"""An EPYC of two cores in a virtual machine, calibrated. Half of the last-level cache is left to others."""
SSE = replace(ZEN3, latency=3, fma_load=1.5, fma_broadcast=1.1, body_bytes=6000)
"""The same core with vectors of 128 bits, whose products are added by an instruction of their own."""
ZEN4 = Figures(
    gigahertz=3.7, fma=1, latency=4, load=1, broadcast=2, store=0.5, fma_load=1, fma_broadcast=1, step=1.5,
    body_bytes=8500, l1_bytes=32 << 10, l1_ways=8, l2_bytes=1 << 20, l3_bytes=16 << 20,
    l2_speed=32, l3_speed=26, memory_speed=8, l3_speed_shared=26, memory_speed_shared=6, barrier=2000,
)  # fmt: skip
"""Measured in part by loops, in part by the models of `bench/`, when the schedules were fitted to it."""
ICE_LAKE = Figures(
    gigahertz=2.7, fma=2, latency=4, load=1, broadcast=1, store=1, fma_load=1, fma_broadcast=1, step=1.5,
    body_bytes=2500, l1_bytes=48 << 10, l1_ways=12, l2_bytes=1280 << 10, l3_bytes=16 << 20,
    l2_speed=26, l3_speed=11.7, memory_speed=4, l3_speed_shared=8, memory_speed_shared=3, barrier=3000,
)  # fmt: skip
"""A server's core in a virtual machine with busy neighbours: tiles on data of every level of the caches."""
NEOVERSE = Figures(
    gigahertz=2.6, fma=2, latency=4, load=2, broadcast=2, store=1, fma_load=2, fma_broadcast=2, step=1.5,
    body_bytes=8500, l1_bytes=64 << 10, l1_ways=4, l2_bytes=1 << 20, l3_bytes=16 << 20,
    l2_speed=16, l3_speed=10, memory_speed=6, l3_speed_shared=8, memory_speed_shared=4, barrier=2000,
)  # fmt: skip
"""Neoverse N1, from Arm's optimisation guide and technical reference, not measured; a lane of a vector is a factor."""

CORTEX_M4 = Figures(
    gigahertz=0.1, fma=1, latency=1, load=0.5, broadcast=0.5, store=1, fma_load=0.33, fma_broadcast=0.33, step=4,
    body_bytes=256, l1_bytes=64 << 10, l1_ways=1024, l2_bytes=256 << 10, l3_bytes=1 << 20,
    l2_speed=4, l3_speed=4, memory_speed=2, l3_speed_shared=4, memory_speed_shared=2, barrier=50,
)  # fmt: skip
"""Cortex-M4, roughly as its technical reference manual has instructions timed; not measured. Numbers are scalars; there
is no cache, and memory on the chip stands in its place. `body_bytes` keeps the code of a loop small: it lies in flash.
"""
CORTEX_M7 = replace(
    CORTEX_M4, gigahertz=0.4, latency=2, load=1, broadcast=1, fma_load=0.5, fma_broadcast=0.5, step=2,
    l1_bytes=16 << 10, l1_ways=4, l2_speed=8, l3_speed=8,
)  # fmt: skip
"""Cortex-M7, roughly: two instructions in a cycle, a cache of 4 to 64 KB; not measured."""
CORTEX_M55 = replace(
    CORTEX_M7, fma=0.5, latency=4, load=0.5, broadcast=0.5, store=0.5, fma_load=0.5, fma_broadcast=0.5, body_bytes=512,
)  # fmt: skip
"""Cortex-M55, roughly: a vector of 128 bits takes two cycles, a load goes with it; not
measured."""

MEASURED = {
    "znver3": ZEN3, "znver4": ZEN4, "icelake-server": ICE_LAKE, "x86-64-v2": SSE, "neoverse-n1": NEOVERSE,
    "cortex-m4": CORTEX_M4, "cortex-m7": CORTEX_M7, "cortex-m55": CORTEX_M55,
}  # fmt: skip
"""Figures by the processor that has them, under LLVM's name."""

PROCESSORS = {
    **{name: name for name in MEASURED},
    "znver1": "znver3", "znver2": "znver3", "znver5": "znver4",
    **dict.fromkeys(("skylake-avx512", "cascadelake", "cooperlake", "icelake-client", "rocketlake", "tigerlake",
                     "sapphirerapids", "emeraldrapids", "graniterapids"), "icelake-server"),
    **dict.fromkeys(("neoverse-v1", "neoverse-n2", "neoverse-v2"), "neoverse-n1"),
}  # fmt: skip
"""Processors, and whose figures are nearest to theirs."""


def shipped(target: TargetAttr | TargetSpec) -> tuple[str, Figures]:
    """The figures that come with the name of a target's processor, and whose they are: its own, its next of kin's, or
    those of a processor with such vectors."""
    spec = target if isinstance(target, TargetSpec) else TargetSpec.of(target)
    known = PROCESSORS.get(spec.cpu)
    if known is None and spec.triple.startswith("wasm"):
        known = "x86-64-v2"
    if known is None and not spec.triple.startswith("x86_64"):
        known = "neoverse-n1"
    if known is None and spec.registers >= 32:
        known = "znver4"
    if known is None:
        known = "znver3" if "+fma" in spec.feature_list() else "x86-64-v2"
    return known, MEASURED[known]


@cache
def figures_of(target: TargetAttr | None) -> Figures:
    """The figures of a target: those that it says, else the shipped ones; Zen 4's without a target.

    Raises InputError for figures that are none.
    """
    if target is None:
        return MEASURED["znver4"]
    return Figures.of_text(target.figures.data, "figures") if target.figures.data else shipped(target)[1]
