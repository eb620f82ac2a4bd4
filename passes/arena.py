"""Places for buffers in one piece of memory."""

from __future__ import annotations

from bisect import bisect_left


class Arena:
    """Free gaps by offset; neighbours are merged when a buffer is given back. `size` is the most that was taken."""

    def __init__(self) -> None:
        self.gaps: list[tuple[int, int]] = []
        self.size = 0

    def take(self, size: int) -> int:
        """The offset of a new buffer: in the smallest gap that holds it, else at the end."""
        best = min(
            ((length, start) for start, length in self.gaps if length >= size),
            default=None,
        )
        if best is not None:
            length, start = best
            self.gaps.remove((start, length))
            if length > size:
                self.give(start + size, length - size)
            return start
        if self.gaps and sum(self.gaps[-1]) == self.size:  # grow the gap at the end
            start, _ = self.gaps.pop()
        else:
            start = self.size
        self.size = start + size
        return start

    def give(self, start: int, size: int) -> None:
        """Give a buffer back."""
        n = bisect_left(self.gaps, (start, 0))
        if n < len(self.gaps) and self.gaps[n][0] == start + size:
            size += self.gaps.pop(n)[1]
        if n > 0 and sum(self.gaps[n - 1]) == start:
            before = self.gaps.pop(n - 1)
            start, size = before[0], before[1] + size
            n -= 1
        self.gaps.insert(n, (start, size))
