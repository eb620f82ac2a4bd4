"""The code of a Mach-O object for arm64 as it lies in memory: linked by what Apple's and Arm's manuals say of its
relocations, and nothing of ours, so that an emulator can run it."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple

PAGE = 1 << 12


class MachoImage(NamedTuple):
    """Bytes from an address on, the addresses of the symbols, and of the slots behind: an instruction that loads the
    second half and one that jumps there, in the order of the names of what is elsewhere."""

    data: bytes
    symbols: dict[str, int]
    slots: int


def image_of(data: bytes, base: int) -> MachoImage:
    """The image of an object at an address."""
    sections: list[tuple[Any, ...]] = []
    symbols: list[tuple[str, int, int]] = []
    at = 32
    for _ in range(struct.unpack_from("<I", data, 16)[0]):
        command, size = struct.unpack_from("<II", data, at)
        if command == 0x19:
            count = struct.unpack_from("<I", data, at + 64)[0]
            sections = [struct.unpack_from("<16s16sQQ8I", data, at + 72 + 80 * n) for n in range(count)]
        elif command == 0x2:
            place, count, names, _ = struct.unpack_from("<4I", data, at + 8)
            for n in range(count):
                start, marks, _, _, value = struct.unpack_from("<IBBHQ", data, place + 16 * n)
                symbols.append((data[names + start : data.index(b"\0", names + start)].decode(), marks, value))
        at += size
    end = -(-max(s[2] + s[3] for s in sections) // PAGE) * PAGE
    out = bytearray(end)
    for s in sections:
        out[s[2] : s[2] + s[3]] = data[s[4] : s[4] + s[3]]
    table, slots = base + end, base + end + 8 * len(symbols)
    elsewhere = sorted(name for name, marks, _ in symbols if not marks & 0xE)
    places = {name: slots + 16 * n for n, name in enumerate(elsewhere)}
    places |= {name: base + value for name, marks, value in symbols if marks & 0xE and not name.startswith("l")}
    addresses = [base + value if marks & 0xE else places[name] for name, marks, value in symbols]
    out += b"".join(a.to_bytes(8, "little") for a in addresses)
    for _ in elsewhere:
        out += struct.pack("<IIQ", 0x58000050, 0xD61F0200, 0)  # ldr x16, the word behind; br x16
    for s in sections:
        addend = 0
        for n in range(s[7]):
            offset, word = struct.unpack_from("<iI", data, s[6] + 8 * n)
            kind, number = word >> 28, word & 0xFFFFFF
            if kind == 10:
                addend = number
                continue
            target = (table + 8 * number if kind in (5, 6) else addresses[number]) + addend
            _patch(out, s[2] + offset, kind, target, base + s[2] + offset)
            addend = 0
    return MachoImage(bytes(out), places, slots)


def _patch(out: bytearray, at: int, kind: int, target: int, place: int) -> None:
    """Write what a relocation says into the instruction, or the word, at an offset."""
    if kind == 0:
        target += int.from_bytes(out[at : at + 8], "little")
        out[at : at + 8] = target.to_bytes(8, "little")
        return
    word = int.from_bytes(out[at : at + 4], "little")
    if kind == 2:
        word |= (target - place) // 4 & 0x3FFFFFF
    elif kind in (3, 5):
        pages = (target // PAGE - place // PAGE) & 0x1FFFFF
        word |= (pages & 3) << 29 | (pages >> 2) << 5
    else:
        is_load = word & 0x3B000000 == 0x39000000
        wide = is_load and word & 0x04800000 == 0x04800000 and not word >> 30
        scale = (4 if wide else word >> 30) if is_load else 0
        assert kind in (4, 6) and target % (1 << scale) == 0
        word |= (target % PAGE >> scale) << 10
    out[at : at + 4] = word.to_bytes(4, "little")
