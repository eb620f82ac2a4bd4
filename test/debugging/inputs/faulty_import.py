"""A fault of the importer, put in on purpose: Softsign is imported as HardSwish."""

from dataclasses import dataclass

from lamina.frontends.onnx.registry import converters
from lamina.passes.base import Context, ModuleOp, ModulePass

table = converters()
table["", "Softsign"] = table["", "HardSwish"]


@dataclass(frozen=True)
class Nothing(ModulePass):
    """What is loaded has a pass."""

    name = "faulty-import"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pass
