"""Arm of 32 bits, in its own instructions, not those of Thumb (ELF for the Arm Architecture, section 5.6)."""

from __future__ import annotations

from lamina.backends.link.processor import Processor, RelocationKind, Through, patch, relative, signed, word


def _branch(data: bytearray, at: int, value: int, place: int) -> None:
    patch(data, at, 0x00FFFFFF, signed(value - place, 26) >> 2)


def _branch_addend(data: bytearray, at: int) -> int:
    words = int.from_bytes(data[at : at + 3], "little")
    return (words - (words >> 23 << 24)) * 4


_KINDS: dict[int, RelocationKind | None] = {
    0: None,
    2: word("R_ARM_ABS32", 4),
    3: relative("R_ARM_REL32", 4),
    28: RelocationKind("R_ARM_CALL", Through.CALL, _branch, _branch_addend),
    29: RelocationKind("R_ARM_JUMP24", Through.CALL, _branch, _branch_addend),
    96: relative("R_ARM_GOT_PREL", 4, Through.TABLE),
}


def _stub(entry: int, place: int) -> bytes:
    """ldr ip, [pc, #4]; add ip, pc, ip; ldr pc, [ip]; the distance of the entry"""
    code = bytes.fromhex("04c09fe5 0cc08fe0 00f09ce5")
    return code + (entry - place - 12).to_bytes(4, "little", signed=True)


ARMV7 = Processor("armv7", 40, 32, 0x1000, 23, 2, 21, _KINDS, 16, _stub, 0x70000001, has_addends=False)
