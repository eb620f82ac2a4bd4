"""AArch64 (ELF for the Arm 64-bit Architecture, section 5.7)."""

from __future__ import annotations

from lamina.backends.link.processor import Processor, RelocationKind, Through, patch, relative, signed, word


def _page(data: bytearray, at: int, value: int, place: int) -> None:
    """The page of an address, in adrp."""
    pages = signed((value >> 12) - (place >> 12), 21)
    patch(data, at, 0x60FFFFE0, (pages & 3) << 29 | (pages >> 2) << 5)


def _jump(data: bytearray, at: int, value: int, place: int) -> None:
    patch(data, at, 0x03FFFFFF, signed(value - place, 28) >> 2)


def _low(name: str, shift: int, through: Through = Through.SYMBOL) -> RelocationKind:
    """The low 12 bits of an address, in an addition or in a load or store of 1 << shift bytes."""

    def field(data: bytearray, at: int, value: int, _: int) -> None:
        low = value & 0xFFF
        if low & (1 << shift) - 1:
            raise ValueError(f"the address {value:#x} is not aligned to {1 << shift} bytes")
        patch(data, at, 0x003FFC00, low >> shift << 10)

    return RelocationKind(name, through, field)


_KINDS = {
    257: word("R_AARCH64_ABS64", 8),
    260: relative("R_AARCH64_PREL64", 8),
    261: relative("R_AARCH64_PREL32", 4),
    275: RelocationKind("R_AARCH64_ADR_PREL_PG_HI21", Through.SYMBOL, _page),
    277: _low("R_AARCH64_ADD_ABS_LO12_NC", 0),
    278: _low("R_AARCH64_LDST8_ABS_LO12_NC", 0),
    282: RelocationKind("R_AARCH64_JUMP26", Through.CALL, _jump),
    283: RelocationKind("R_AARCH64_CALL26", Through.CALL, _jump),
    284: _low("R_AARCH64_LDST16_ABS_LO12_NC", 1),
    285: _low("R_AARCH64_LDST32_ABS_LO12_NC", 2),
    286: _low("R_AARCH64_LDST64_ABS_LO12_NC", 3),
    299: _low("R_AARCH64_LDST128_ABS_LO12_NC", 4),
    311: RelocationKind("R_AARCH64_ADR_GOT_PAGE", Through.TABLE, _page),
    312: _low("R_AARCH64_LD64_GOT_LO12_NC", 3, Through.TABLE),
}


def _stub(entry: int, place: int) -> bytes:
    """adrp x16, entry; ldr x17, [x16, :lo12:entry]; br x17; brk"""
    code = bytearray.fromhex("10000090 110240f9 20021fd6 000020d4")
    _page(code, 0, entry, place)
    _KINDS[312].field(code, 4, entry, place + 4)
    return bytes(code)


AARCH64 = Processor("aarch64", 183, 64, 0x10000, 1027, 257, 1025, _KINDS, 16, _stub)
