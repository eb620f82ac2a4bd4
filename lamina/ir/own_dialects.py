"""The dialects that every context has, beside xDSL's."""

OUR_DIALECTS = {
    "relay": ("lamina.dialects.relay", "RELAY"),
    "te": ("lamina.dialects.te", "TE"),
    "tir": ("lamina.dialects.tir", "TIR"),
    "lamina": ("lamina.dialects.target", "LAMINA"),
    "llvm": ("lamina.dialects.llvm_target", "LLVM"),
}
"""Name -> (module, the Dialect in it)."""
