"""x86-64 (System V ABI, AMD64 supplement)."""

from __future__ import annotations

from lamina.backends.link.processor import Processor, Through, relative, word

_KINDS = {
    1: word("R_X86_64_64", 8),
    2: relative("R_X86_64_PC32", 4),
    4: relative("R_X86_64_PLT32", 4, Through.CALL),
    9: relative("R_X86_64_GOTPCREL", 4, Through.TABLE),
    24: relative("R_X86_64_PC64", 8),
    41: relative("R_X86_64_GOTPCRELX", 4, Through.TABLE),
    42: relative("R_X86_64_REX_GOTPCRELX", 4, Through.TABLE),
}


def _stub(entry: int, place: int) -> bytes:
    """jmp *entry(%rip)"""
    return b"\xff\x25" + (entry - place - 6).to_bytes(4, "little", signed=True) + b"\xcc\xcc"


X86_64 = Processor("x86-64", 62, 64, 0x1000, 8, 1, 6, _KINDS, 8, _stub)
