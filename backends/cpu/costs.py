"""Costs by which the schedules and passes of this target choose: one table, `for_target(target)`.

`figures` are those of the processor, by which estimates are computed. The other fields are limits and crossings of
Lamina's own code, fitted on the models of `bench/models.py` on Zen 4 (AVX-512, 118 GF/s a core, memory at 32 GB/s, one
or two threads) where a field says nothing else. A choice that is mathematics, and the same on every machine, stands
with the schedule that makes it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import exp, factorial

from lamina.backends.cpu.figures import LINE_BYTES, ZEN4, Figures, figures_of
from lamina.dialects.target import TargetAttr


@dataclass(frozen=True, kw_only=True)
class Reserve:
    """The vector registers that register tiles leave to what is loaded beside their accumulators."""

    registers: int
    """Registers of a tile, whatever its size. Read off LLVM's code: with one less it spills in the inner loop."""
    row: int = 0
    """Registers for each row of a tile, beside its accumulators."""
    element: int = 0
    """Registers for an element in all lanes, beside those that the weights of a step take whole."""
    one_step: bool = False
    """Whether the steps of a product's reduction are not unrolled: of several LLVM loads operands ahead, into registers
    that the tile needs."""


AVX512 = Reserve(registers=4)
"""AVX-512 broadcasts from memory inside the multiply-add: an eighth of the registers is left for weights."""
AVX512_LOADING = replace(AVX512, element=1)
"""The same where a multiply-add takes longer with an element in memory than in a register: 7x4 leaves none."""
FMA = Reserve(registers=4, element=2, one_step=True)
"""An element in all lanes, and one for LLVM, beside the weights of a step: 6x2 or 3x3 of 16 registers. With four or
eight steps in a body it loads up to four vectors of weights together, and neighbouring elements as well: 4x2 was the
most then, and took 3 to 5 % longer (ResNet-50, BERT, U-Net as x86-64-v3 on a Zen 5)."""
SSE = Reserve(registers=10)
"""Products need a place before they are added."""
WASM = Reserve(registers=4, row=1, one_step=True)
"""An engine's compiler loads all operands of a body first: of several steps together they would not fit the registers.
It keeps one for itself; products need a place before they are added."""
NEON = Reserve(registers=7, row=1)
"""A lane of a register is a factor: the values of each row for the next steps wait in one."""


@dataclass(frozen=True, kw_only=True)
class Core:
    """Instructions: loops on data of the first-level cache measure them."""

    reserve: Reserve = AVX512
    """Registers that tiles leave free: for the instruction set, and for LLVM's order of loads."""
    vector_bytes: int = 64
    """Bytes of a vector register."""
    exposed_weights: float = 0.25
    """Part of the time of reading a tile's weights from the second-level cache that no multiply-add hides."""
    exposed_loads: float = 0.2
    """Part of the time of a load in a tile that no multiply-add hides, where the data lies far apart, or is read from
    beyond the first-level cache again."""
    unaligned_cycles: float = 2.2
    """Cycles of a whole vector's load that goes across cache lines, as rows of pixels do."""
    shuffle_cycles: float = 1.0
    """Cycles of a shuffle of two vectors."""
    byte_speed: float = 4.0
    """Times as fast as products of floats those of bytes are, where an instruction sums them up in groups."""
    loads_apart: bool = False
    """Whether loads take their time beside that of multiply-adds, as where instructions begin one by one in order: then
    sums share what is loaded as long as there are registers for them."""


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Costs between a core and its caches beside the figures of these."""

    line_bytes: int = LINE_BYTES
    """Bytes of a cache line."""
    page_bytes: int = 4096
    """Bytes of a page."""
    many_planes: int = 64
    """Planes of data that, with weights and results, take all of the first level of the translation of addresses (72
    pages)."""
    plane_cycles: float = 3.0
    """Cycles of a step in another plane of the data than the one before, where the planes that a tile goes through are
    many and a page or more apart: nothing is fetched ahead. Shared by the taps of a window."""
    row_of_weights_cycles: float = 0.25
    """Cycles for each channel's row of weights that is read beside the others: they lie apart, and are new to the
    cache."""
    prefetched_bytes: int = 1 << 17
    """Bytes of data from which on a tile's next channels are fetched while it sums over these: they lie far apart."""
    prefetched_tiles: int = 1
    """Tiles of a Winograd convolution that meet each weight, from which on the next weights are fetched meanwhile. On
    Zen 5 convolutions of ResNet-50 at 14 x 14 and 7 x 7 take half as long; without it their time depends on where code
    and weights happen to lie, up to a third."""
    l2_ways: int = 8
    """Ways of the second-level cache, of Zen 1 to 4 and Neoverse N1; others have up to 20, and lose less."""
    l3_ways: int = 16
    """Ways of the third-level cache."""
    block_moves: int = 3
    """Times that a line of what a block of a Winograd convolution holds is moved to or from a cache that has room for
    it: fetched to be written, written back, and read."""
    streams: int = 8
    """Rows of a product's second factor that are read at a time where it is read as it lies: streams that the
    prefetcher follows."""


@dataclass(frozen=True, kw_only=True)
class Bodies:
    """Steps and pieces of one body of code: beyond them it is decoded anew, or compiled for nothing."""

    most_operations: int = 800
    """Multiply-adds (and the like) that one body may be unrolled to: beyond it, compile time and code size win
    nothing."""
    operation_bytes: int = 8
    """Bytes of code of such an operation, with its part of a tile's loads."""
    reduction_operations: int = 16
    """The operations that a step of a reduction which is no product counts for in a body."""
    product_steps: int = 4
    """Steps of a product's reduction in one body. Rows of the data lie far apart, so neighbouring elements of a row are
    loaded together when more steps are in sight, and then held in registers that the tile needs."""
    wide_product_steps: int = 2
    """The same for tiles of `wide_vectors` where the second factor lies in long rows; packed ones, which are one
    stream, take `product_steps` (GPT-2 takes an eighth longer with two)."""
    wide_vectors: int = 3
    """Vectors of a tile from which on it is wide."""
    group_steps: int = 4
    """Groups of input channels in one body where an instruction sums up a group: a block of sixteen bytes of data."""
    winograd_steps: int = 16
    """Steps of the reduction of a Winograd convolution's products in one body."""
    pixel_steps: int = 8
    """Input channels of a convolution of rows of pixels in one body."""
    window_taps: int = 9
    """Taps of a window that is unrolled whole; of larger ones each row is."""
    window_columns: int = 5
    """Columns of a window of which each may be a piece of its own in a tile that is a whole row. Where no column meets
    padding there may be any number."""
    column_vectors: int = 64
    """Vectors in one body of a reduction of columns."""
    row_pieces: int = 8
    """Pieces of a row, which are code each."""
    costly_row_pieces: int = 3
    """The same where elements take exponentials, logarithms or the like."""


@dataclass(frozen=True, kw_only=True)
class Tiles:
    """Register tiles: their widths, and how much longer than their multiply-adds they take."""

    drawn_vectors: tuple[int, ...] = (1, 2, 3, 4, 6, 8)
    """Vectors of a row of a tile that a sketch tries."""
    drawn_rows: tuple[int, ...] = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 28)
    """Rows of a tile that it tries: what register files hold, and divisors of usual extents."""
    drawn_steps: tuple[int, ...] = (1, 2, 4, 8, 16)
    """Steps of a reduction in one body that it tries."""
    few_vectors: int = 2
    """Vectors of a tile of a reduction that is called nothing: on 16 and on 32 registers they meet enough elements."""
    shares: int = 4
    """Iterations for each thread from which on a loop alone keeps them busy."""
    tile_vectors: tuple[int, ...] = (2, 4, 1, 3)
    """The widths of tiles, in vectors; of equal estimates the first is taken."""
    weight_registers: int = 3
    """Registers, of those that a product's tile leaves, that the weights of a step may take."""
    tail_penalty: float = 1.05
    """Time of a tile that is a tail: a second copy of the kernel, compile time and instruction cache."""
    tail_rows: float = 1.25
    """Rows of the pieces for tails of any size, over those of a tile: what their code may take beside it."""
    tail_sizes: int = 5
    """The most sizes of such pieces, each a kernel with a loop of its own."""
    round_tile: float = 6 / 7
    """The part of the best tile's rows that another has at least which is preferred where only a run counts rows, since
    its own are divided by a larger power of two, as lengths and batches mostly are. With eight rows in the place of
    nine BERT takes 0.82 to 1.03 of the time for 8 to 512 tokens on an Emerald Rapids, least for 16, most for 256."""
    single_vector_penalty: float = 1.06
    """Time of a tile of one vector: each multiply-add brings its own broadcast, and the load ports are as busy as the
    multipliers."""
    last_panel_penalty: float = 1.25
    """Time of the last, narrower panel of a product's columns, which has a kernel and a loop of its own."""
    last_channels_penalty: float = 1.3
    """Time of the last, fewer channels of a tile of rows of pixels, which are code of their own."""
    depthwise_vectors: int = 8
    """Vectors of a depthwise convolution's tile: with the data that neighbours share, and the weights of a row, they
    fill 32 registers."""
    short_row_vectors: int = 16
    """Vectors of a tile of short rows, which share weights only, where fewer do not divide the image."""
    halved_window: int = 49
    """Taps of a depthwise convolution from which on vectors of half the lanes, of which fewer go across cache lines,
    are loaded faster."""
    pool_vectors: int = 8
    """Vectors of a pool's tile: neighbours share what they load."""
    winograd_pixels: tuple[int, int] = (4, 14)
    """The fewest and the most rows of a register tile of two vectors, of which blocks of a Winograd convolution are."""
    stream_vectors: int = 4
    """Vectors of a product's tile where there is one row: weights are read once, in one stream."""
    group_stream_vectors: int = 8
    """The same where an instruction sums up groups: it takes four cycles, and reads a vector in each."""
    group_vectors: int = 2
    """Most vectors of a block of packed weights in groups that several rows share."""
    gate_vectors: int = 8
    """Vectors of a recurrent layer that are summed at once for one sequence: as many as hide a multiply-add's
    latency."""
    shared_gate_vectors: int = 4
    """The same where several sequences share each weight, and each has accumulators of its own."""


@dataclass(frozen=True, kw_only=True)
class Reductions:
    """Reductions: partial results that do not wait for one another, and from which size on they pay."""

    chains: int = 8
    """Sums of an element whose terms lie nowhere side by side: an addition takes three or four cycles, two begin in
    one."""
    column_chains: int = 8
    """Partial results of each column of a single vector: a maximum that heeds NaN takes six cycles, a sum three."""
    lane_chains: int = 4
    """Partial sums of each lane of a row: an addition waits as long for the one before it as that takes."""
    chained_vectors: int = 8
    """Vectors of a row from which on such chains are worth adding up."""
    line_vectors: int = 2
    """Vectors of a row from which on lanes of their own are worth combining."""
    gathered_bytes: int = 4
    """The fewest bytes of elements that are gathered: x86-64 has such instructions for 32 and 64 bits."""
    least_vector_bytes: int = 16
    """The fewest bytes of a part of a vector: 128 bits, which every processor with vectors has."""
    tile_columns: int = 2
    """Vectors of columns from which on there is a tile of them."""
    costly_columns: int = 4
    """Vectors of a tile whose columns, before or after they are reduced, take functions with many constants."""
    single_rows: int = 32
    """Rows from which on partial results of a single vector of columns are worth combining."""
    rows_at_once: int = 4
    """Rows of a block: while the lanes of one are combined, which is a chain, the next is under way."""


@dataclass(frozen=True, kw_only=True)
class Crossings:
    """Sizes from which on another way of computing the same takes less time."""

    blocks_per_thread: int = 4
    """Blocks of a parallel loop for each thread: with fewer, threads wait for the last one, unless each has as many as
    the others."""
    slices_per_thread: int = 2
    """Slices of padding for each thread, with fewer of which rows are shared out too."""
    long_row: int = 8
    """Vectors of a row beyond which its end does not matter."""
    attention_rows: int = 16
    """Rows of queries whose scores, for some hundred keys, stay in the first-level cache."""
    mixed_values: int = 64
    """Values that attention mixes at a time at least, so that sums are read and written seldom."""
    long_attention_rows: int = 48
    """The same for so many keys that values are mixed by chunks, each for all rows: 1,500 keys take a tenth longer with
    16 on Zen 3."""
    streamed_rows: int = 4
    """Rows of the first factor up to which reading the second one is what takes the time."""
    copied_rows: int = 32
    """Rows of the first factor from which on copying the second one, panel by panel, costs next to nothing."""
    transposed_rows: int = 8
    """Rows of the first factor for which a second one that lies transposed is worth moving."""
    rows_together: int = 2
    """Rows of the first factor for which a row of a second one that lies transposed is read once. With 4 a product of 4
    rows with 961 of 64 floats took 1.5 times as long on Emerald Rapids."""
    winograd_gain: float = 1.5
    """Times fewer multiplications from which on a convolution is one of tiles: transforms and tiles beyond the edge
    cost some back."""
    winograd_outputs: int = 32
    """Pixels of the result for which reading the transformed weights, four times as many for tiles of 4, is not what
    takes the time."""
    most_zeros: float = 2.0
    """Taps of whole windows over those that a transposed convolution has, up to which it is one of whole windows."""
    few_zeros: float = 1.2
    """The same up to which that is better than a convolution of its own for each of the pixels of a window."""
    few_channels: int = 8
    """Channels of the result that do not pay for reading an image of more than a second-level cache anew for each of
    these."""
    repeated_ops: int = 16
    """Ops of a stage that reads nothing, up to which it is made again wherever it is read: a constant, an index. A
    table that chooses among many constants is stored."""
    repeated_reads: int = 4
    """Reads of each element of a stage of a few arithmetic instructions, up to which it is made again for each."""


@dataclass(frozen=True, kw_only=True)
class Costs(Core, Memory, Bodies, Tiles, Reductions, Crossings):
    """All that choices are made by."""

    figures: Figures = ZEN4
    """Figures of the processor: its core in a cycle, and its caches."""
    is_shared: bool = False
    """Whether other cores read from memory at the same time, and from what they share of the caches."""

    @property
    def body_operations(self) -> int:
        """Operations of one body, at least one: by what it may be unrolled to, and by where long code takes longer."""
        return max(min(self.most_operations, self.figures.body_bytes // self.operation_bytes), 1)

    @property
    def waiting_sums(self) -> float:
        """Sums of products that are under way at once: with fewer each waits for itself."""
        return self.figures.latency * self.figures.fma

    @property
    def exposed_load_cycles(self) -> float:
        """Cycles of such a load."""
        return self.exposed_loads / self.figures.load

    @property
    def l3_speed(self) -> float:
        """Bytes in a cycle from the third-level cache."""
        return self.figures.l3_speed_shared if self.is_shared else self.figures.l3_speed

    @property
    def memory_speed(self) -> float:
        """Bytes in a cycle from memory."""
        return self.figures.memory_speed_shared if self.is_shared else self.figures.memory_speed

    def speed_again(self, size: float) -> float:
        """Bytes in a cycle of what is read again when so many have passed."""
        missed = missed_part(size, self.figures.l2_bytes, self.l2_ways)
        return 1 / ((1 - missed) / self.figures.l2_speed + missed / self.speed_beyond_l2(size))

    def speed_beyond_l2(self, size: float) -> float:
        """The same of what has left the second-level cache."""
        missed = missed_part(size, self.figures.l3_bytes, self.l3_ways)
        return 1 / ((1 - missed) / self.l3_speed + missed / self.memory_speed)


def missed_part(size: float, capacity: float, ways: int) -> float:
    """Part of lines that a cache does not keep, where `size` bytes on pages at random are read by turns.

    A page meets the others of its colour: about Poisson many, and a way more than there are is one too many (Kessler
    and Hill, Page placement algorithms for large real-indexed caches, 1992).
    """
    mean = ways * size / capacity
    return 1 - sum(exp(-mean) * mean**others / factorial(others) for others in range(ways))


FITTED = Costs()
"""Costs that the schedules were fitted with, for all processors that have none of their own."""

PROCESSORS = {
    # It has 24 lines under way, and its own prefetcher has more: at 7 x 7 fetching takes half as long again.
    "znver4": replace(FITTED, prefetched_tiles=32),
    # Transformed weights would take four times their place in flash, and the tiles more memory than there is.
    **dict.fromkeys(
        ("cortex-m4", "cortex-m7", "cortex-m55"), replace(FITTED, loads_apart=True, winograd_outputs=1 << 31)
    ),
}
"""Costs of processors that differ, under LLVM's names."""


@cache
def for_target(target: TargetAttr | None) -> Costs:
    """The costs of a target: its processor's figures, its instruction set's reserve. Of no target, the fitted ones."""
    if target is None:
        return FITTED
    own, shared = PROCESSORS.get(target.cpu.data, FITTED), target.threads.data > 1
    size, figures = target.vector_bits.data // 8, figures_of(target)
    return replace(own, reserve=_reserve_of(target, figures), vector_bytes=size, figures=figures, is_shared=shared)


def _reserve_of(target: TargetAttr, figures: Figures) -> Reserve:
    if target.triple.data.startswith("wasm"):
        return WASM
    if not target.triple.data.startswith("x86_64"):
        return NEON if target.registers.data >= 32 else SSE
    if target.registers.data >= 32:
        return AVX512_LOADING if figures.fma_broadcast < figures.fma else AVX512
    return FMA if target.has_feature("fma") else SSE
