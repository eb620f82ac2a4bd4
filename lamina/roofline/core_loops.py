"""Loops that show what a core does in a cycle, as LLVM assembly for the vectors of any machine.

Each is a function `void run(ptr data, i64 rounds, i64 one)` that does one kind of operation many times a round, on
operands that wait for nothing, unless the wait is what is asked for. A value that nobody needs is given to an empty
piece of inline assembly: no code generator drops it, and it costs no instruction.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from lamina.dialects.target import TargetAttr

ACCUMULATORS = 12
"""Sums that do not wait for one another: as many as hide the latency of two multiply-adds a cycle and leave registers
of sixteen."""
READS = 48
"""Loads or stores in a round, each of another place: with whole vectors of 512 bits they are within 4 KB."""
ADDITIONS = 64
"""Dependent additions in a round."""
ROW_BYTES = 528
"""Bytes from one row of a tile's data to the next: 33 lines of 16 bytes, so that rows do not share lines of a cache."""
WEIGHTS_AT, WEIGHT_BYTES = 16 << 10, 4 << 10
"""Offset of a tile's weights, and bytes after which they begin anew: all is in a first-level cache of 32 KB."""
DATA_BYTES = WEIGHTS_AT + 2 * WEIGHT_BYTES
"""Bytes that the loops read and write."""


class Loop(NamedTuple):
    """A function of LLVM assembly, and how many operations it does in a round."""

    text: str
    operations: int


class Vectors(NamedTuple):
    """The vectors of a machine."""

    lanes: int
    registers: int
    constraint: str
    """The letter of a vector register in inline assembly."""
    fused: bool
    """Whether a multiply-add is one instruction."""

    @staticmethod
    def of(target: TargetAttr) -> Vectors:
        """Those of float32."""
        lanes, x86 = target.lanes(32), target.triple.data.startswith("x86_64")
        wide = "v" if target.has_feature("avx512f") else "x"
        return Vectors(lanes, target.registers.data, wide if x86 else "w", target.multiplies_and_adds())

    @property
    def type(self) -> str:
        """The type of a vector."""
        return f"<{self.lanes} x float>"

    @property
    def bytes(self) -> int:
        """Bytes of a vector."""
        return 4 * self.lanes

    def multiply_add(self, out: str, a: str, b: str, c: str) -> list[str]:
        """`out` = a * b + c."""
        if self.fused:
            intrinsic = f"@llvm.fma.v{self.lanes}f32"
            return [f"  %{out} = call {self.type} {intrinsic}({self.type} %{a}, {self.type} %{b}, {self.type} %{c})"]
        return [f"  %{out}.p = fmul {self.type} %{a}, %{b}", f"  %{out} = fadd {self.type} %{out}.p, %{c}"]

    def copy(self, out: str, value: str) -> list[str]:
        """A vector of which nobody knows that it is another one."""
        return [f'  %{out} = call {self.type} asm sideeffect "", "={self.constraint},0"({self.type} %{value})']

    def load(self, out: str, offset: int, base: str = "data") -> list[str]:
        """A vector, so many bytes after a pointer."""
        return [
            f"  %{out}.at = getelementptr i8, ptr %{base}, i64 {offset}",
            f"  %{out} = load {self.type}, ptr %{out}.at, align 4",
        ]

    def broadcast(self, out: str, offset: int) -> list[str]:
        """An element in all lanes."""
        return [
            f"  %{out}.at = getelementptr i8, ptr %data, i64 {offset}",
            f"  %{out}.one = load float, ptr %{out}.at, align 4",
            f"  %{out}.first = insertelement {self.type} poison, float %{out}.one, i64 0",
            f"  %{out} = shufflevector {self.type} %{out}.first, {self.type} poison, "
            f"<{self.lanes} x i32> zeroinitializer",
        ]

    def keep(self, value: str) -> str:
        """A use of a vector."""
        return f'  call void asm sideeffect "", "{self.constraint}"({self.type} %{value})'

    def function(self, carried: Sequence[str], body: Sequence[str], before: Sequence[str] = ()) -> str:
        """The function: `carried` are vectors of which each round makes `<name>.next`."""
        lines = ["define void @run(ptr %data, i64 %rounds, i64 %one) alignstack(64) {", "entry:", *before]
        lines += ["  br label %loop", "loop:", "  %n = phi i64 [ 0, %entry ], [ %n.next, %loop ]"]
        lines += [f"  %{v} = phi {self.type} [ zeroinitializer, %entry ], [ %{v}.next, %loop ]" for v in carried]
        lines += [*body, "  %n.next = add i64 %n, 1", "  %more = icmp slt i64 %n.next, %rounds"]
        lines += ["  br i1 %more, label %loop, label %exit", "exit:", *(self.keep(f"{v}.next") for v in carried)]
        lines += ["  ret void", "}"]
        if self.fused:
            lines.append(f"declare {self.type} @llvm.fma.v{self.lanes}f32({', '.join([self.type] * 3)})")
        return "\n".join([*lines, ""])


def chain(v: Vectors) -> Loop:
    """Additions of two registers, each of which waits for the one before it: a cycle each, on every processor."""
    body, last = ["  %first = phi i64 [ 0, %entry ], [ %last, %loop ]"], "first"
    for k in range(ADDITIONS):
        out = "last" if k == ADDITIONS - 1 else f"x{k}"
        body.append(f"  %{out}.sum = add i64 %{last}, %one")
        # Without it they would be one addition.
        body.append(f'  %{out} = call i64 asm sideeffect "", "=r,0"(i64 %{out}.sum)')
        last = out
    return Loop(v.function([], body), ADDITIONS)


def multiply_adds(v: Vectors, accumulators: int = ACCUMULATORS, operand: str = "register") -> Loop:
    """Multiply-adds, one factor a register, or a vector or an element that each loads: `load`, `broadcast`."""
    sums = [f"s{n}" for n in range(accumulators)]
    before = [*v.load("x", 0), *v.load("y", v.bytes)]
    body: list[str] = []
    for k in range(4):
        for n, s in enumerate(sums):
            factor, offset = "y", (k * accumulators + n) * v.bytes
            if operand != "register":
                factor = f"y{k}.{n}"
                body += v.load(factor, offset) if operand == "load" else v.broadcast(factor, offset)
            elif not v.fused:  # else a product of two factors that stay in registers would be made once
                factor = f"y{k}.{n}"
                body += v.copy(factor, "y")
            last = s if k == 0 else f"{s}.{k - 1}"
            body += v.multiply_add(f"{s}.next" if k == 3 else f"{s}.{k}", "x", factor, last)
    return Loop(v.function(sums, body, before), 4 * accumulators)


def loads(v: Vectors) -> Loop:
    """Loads of whole vectors."""
    body = [line for k in range(READS) for line in (*v.load(f"v{k}", k * v.bytes), v.keep(f"v{k}"))]
    return Loop(v.function([], body), READS)


def broadcasts(v: Vectors) -> Loop:
    """Loads of an element into all lanes."""
    body = [line for k in range(READS) for line in (*v.broadcast(f"v{k}", k * v.bytes), v.keep(f"v{k}"))]
    return Loop(v.function([], body), READS)


def stores(v: Vectors) -> Loop:
    """Stores of whole vectors."""
    body: list[str] = []
    for k in range(READS):
        body += [f"  %p{k} = getelementptr i8, ptr %data, i64 {k * v.bytes}"]
        body += [f"  store {v.type} %x, ptr %p{k}, align 4"]
    return Loop(v.function([], body, v.load("x", 0)), READS)


def tile(v: Vectors, rows: int, vectors: int, steps: int) -> Loop:
    """So many steps of a register tile of a product: its weights are read side by side, an element of each row."""
    sums = [f"c{r}.{n}" for r in range(rows) for n in range(vectors)]
    body: list[str] = []
    for k in range(steps):
        for n in range(vectors):
            body += v.load(f"w{k}.{n}", WEIGHTS_AT + (k * vectors + n) * v.bytes % WEIGHT_BYTES)
        for r in range(rows):
            body += v.broadcast(f"a{k}.{r}", r * ROW_BYTES + k * 4)
            for n in range(vectors):
                s = f"c{r}.{n}"
                last = s if k == 0 else f"{s}.{k - 1}"
                body += v.multiply_add(f"{s}.next" if k == steps - 1 else f"{s}.{k}", f"a{k}.{r}", f"w{k}.{n}", last)
    return Loop(v.function(sums, body), rows * vectors * steps)


WORK = """define void @work(ptr %args, i64 %from, i64 %to) {
entry:
  br label %iteration
iteration:
  %i = phi i64 [ %from, %entry ], [ %i.next, %end ]
  br label %loop
loop:
  %n = phi i64 [ 0, %iteration ], [ %n.kept, %loop ]
  %n.next = add i64 %n, 1
  %n.kept = call i64 asm sideeffect "", "=r,0"(i64 %n.next)
  %more = icmp slt i64 %n.kept, 50000
  br i1 %more, label %loop, label %end
end:
  %i.next = add i64 %i, 1
  %again = icmp slt i64 %i.next, %to
  br i1 %again, label %iteration, label %exit
exit:
  ret void
}
"""
"""A kernel of the thread pool whose iterations take some 20 microseconds each, and no memory."""
