"""Tables by which a loader finds exports, and an unwinder the frames of functions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def gnu_hash(name: str) -> int:
    """The hash of a symbol's name in DT_GNU_HASH."""
    h = 5381
    for byte in name.encode():
        h = (h * 33 + byte) & 0xFFFFFFFF
    return h


def hash_table(exports: Sequence[str], count: int, word: int) -> bytearray:
    """The section `.gnu.hash` of `count` dynamic symbols, of which the last are exports, in words of so many bits.

    It has one bucket: exports are few.
    """
    first = count - len(exports)
    hashes = [gnu_hash(name) for name in exports]
    bloom = 0
    for h in hashes:
        bloom |= 1 << h % word | 1 << (h >> 5) % word
    out = bytearray()
    for number in (1, first, 1, 5):
        out += number.to_bytes(4, "little")
    out += bloom.to_bytes(word // 8, "little")
    out += (first if hashes else 0).to_bytes(4, "little")
    for n, h in enumerate(hashes):
        out += (h & ~1 | (n == len(hashes) - 1)).to_bytes(4, "little")
    return out


def frame_table_bytes(frames: bytes | bytearray) -> int:
    """The size of `.eh_frame_hdr` for a section `.eh_frame`."""
    return 12 + 8 * sum(1 for _ in _descriptions(frames))


def frame_table(frames: bytes | bytearray, address: int, table: int) -> bytes:
    """The section `.eh_frame_hdr` at the address `table`, for `.eh_frame` at `address`: its functions in order.

    Distances are of four bytes, as LLVM writes them for position-independent code.
    """
    rows: list[tuple[int, int]] = []
    for at in _descriptions(frames):
        distance = int.from_bytes(frames[at + 8 : at + 12], "little", signed=True)
        rows.append((address + at + 8 + distance, address + at))
    # Version 1; the distance of the frames from the place, the number of rows, distances from the table's start.
    out = bytearray((1, 0x1B, 0x03, 0x3B))
    out += (address - table - 4).to_bytes(4, "little", signed=True)
    out += len(rows).to_bytes(4, "little")
    for row in sorted(rows):
        for place in row:
            out += (place - table).to_bytes(4, "little", signed=True)
    return bytes(out)


def _descriptions(frames: bytes | bytearray) -> Iterator[int]:
    """The offset of the description of each function; what several have in common stands between them."""
    at = 0
    while at + 8 <= len(frames):
        size = int.from_bytes(frames[at : at + 4], "little")
        if not size:
            return
        if frames[at + 4 : at + 8] != bytes(4):
            yield at
        at += 4 + size
