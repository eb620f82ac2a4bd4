"""Report of what Lamina can compile of a model: all missing operators at once, with counts and places."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lamina.errors import UnsupportedError, shown


@dataclass(frozen=True)
class UnsupportedOp:
    """One operator that is missing: how often and where it is used, and why it is missing.

    `version` is that of its opset, 0 where operators have none.
    """

    domain: str
    op_type: str
    version: int
    count: int
    nodes: tuple[str, ...]
    reason: str

    @property
    def full_name(self) -> str:
        """`com.microsoft.FusedGelu`; standard operators go without their domain."""
        return f"{self.domain}.{self.op_type}" if self.domain else self.op_type

    def __str__(self) -> str:
        nodes = ", ".join(map(shown, self.nodes[:5])) + (", ..." if self.count > 5 else "")
        name = "".join(c if c.isprintable() else "?" for c in self.full_name)[:120]
        opset = f" (opset {self.version})" if self.version else ""
        return f"{name}{opset} x{self.count}: {nodes} ({self.reason})"


@dataclass(frozen=True)
class SupportReport:
    """The operators of a model, supported (with counts) and not."""

    label: str
    nodes: int
    supported: dict[str, int] = field(default_factory=dict[str, int])
    unsupported: tuple[UnsupportedOp, ...] = ()
    folder: str = "frontends/onnx"
    """The folder where a converter would stand."""
    open_extents: tuple[str, ...] = ()
    """The names of extents that the model leaves open, `?` for those without."""

    @staticmethod
    def of(
        label: str, nodes: int, supported: Mapping[str, int], missing: Iterable[UnsupportedOp], folder: str
    ) -> SupportReport:
        """The report with what is missing most often first."""
        ordered = tuple(sorted(missing, key=lambda u: (-u.count, u.full_name)))
        return SupportReport(label, nodes, dict(sorted(supported.items())), ordered, folder)

    @property
    def ok(self) -> bool:
        return not self.unsupported

    def __str__(self) -> str:
        if self.ok:
            return f"{self.label}: all {self.nodes} nodes are supported"
        lines = [f"{self.label}: {len(self.unsupported)} operators are not supported"]
        return "\n".join([*lines, *(f"  {u}" for u in self.unsupported)])

    def error(self) -> UnsupportedError:
        """The report as the error that an import ends with: all operators, in one line."""
        count = len(self.unsupported)
        what = f"{count} operator{'s are' if count > 1 else ' is'} not supported: "
        return UnsupportedError(
            what + "; ".join(map(str, self.unsupported)),
            where=self.label,
            hint=f"replace them in the model, or write converters ({self.folder})",
        )
