"""The dialects that every context has, beside xDSL's."""

OUR_DIALECTS = {
    "relay": ("lamina.dialects.relay", "RELAY"),
    "te": ("lamina.dialects.te", "TE"),
    "tir": ("lamina.dialects.tir", "TIR"),
    "lamina": ("lamina.dialects.target", "LAMINA"),
    "stablehlo": ("lamina.dialects.stablehlo", "STABLEHLO"),
    "sdy": ("lamina.dialects.stablehlo", "SDY"),
    "chlo": ("lamina.dialects.stablehlo", "CHLO"),
    "llvm": ("lamina.dialects.llvm_target", "LLVM"),
}
"""Name -> (module, the Dialect in it)."""
