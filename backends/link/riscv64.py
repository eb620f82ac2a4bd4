"""RISC-V of 64 bits (RISC-V ELF psABI, chapter "ELF Object Files")."""

from __future__ import annotations

from lamina.backends.link.processor import Processor, RelocationKind, Through, patch, relative, signed, word


def _halves(distance: int) -> tuple[int, int]:
    """The upper 20 bits that auipc adds and the lower 12, which count with their sign."""
    signed(distance + 0x800, 32)
    upper = distance + 0x800 >> 12
    return upper & 0xFFFFF, distance - (upper << 12) & 0xFFF


def _upper(data: bytearray, at: int, value: int, place: int) -> None:
    patch(data, at, 0xFFFFF000, _halves(value - place)[0] << 12)


def _lower(data: bytearray, at: int, value: int, place: int) -> None:
    """The lower bits in an instruction of the form I."""
    patch(data, at, 0xFFF00000, _halves(value - place)[1] << 20)


def _lower_stored(data: bytearray, at: int, value: int, place: int) -> None:
    """The same in one of the form S."""
    low = _halves(value - place)[1]
    patch(data, at, 0xFE000F80, low >> 5 << 25 | (low & 31) << 7)


def _call(data: bytearray, at: int, value: int, place: int) -> None:
    """auipc, and jalr behind it."""
    _upper(data, at, value, place)
    _lower(data, at + 4, value, place)


_KINDS = {
    2: word("R_RISCV_64", 8),
    19: RelocationKind("R_RISCV_CALL_PLT", Through.CALL, _call),
    20: RelocationKind("R_RISCV_GOT_HI20", Through.TABLE, _upper),
    23: RelocationKind("R_RISCV_PCREL_HI20", Through.SYMBOL, _upper),
    24: RelocationKind("R_RISCV_PCREL_LO12_I", Through.PARTNER, _lower),
    25: RelocationKind("R_RISCV_PCREL_LO12_S", Through.PARTNER, _lower_stored),
    57: relative("R_RISCV_32_PCREL", 4),
}


def _stub(entry: int, place: int) -> bytes:
    """auipc t3; ld t3, (t3); jr t3; nop"""
    code = bytearray.fromhex("170e0000 033e0e00 67000e00 13000000")
    _upper(code, 0, entry, place)
    _lower(code, 4, entry, place)
    return bytes(code)


RISCV64 = Processor("riscv64", 243, 64, 0x1000, 3, 2, 2, _KINDS, 16, _stub)
