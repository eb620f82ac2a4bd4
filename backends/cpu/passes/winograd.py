"""cpu-winograd: 3x3 convolutions with stride 1 from products of transformed tiles, where that is less work.

Before:
    %y = relay.nn.contrib_conv2d_NCHWc %x, %w {channels = 64, padding = [1, 1], ...}
        : (tensor<1x4x56x56x16xf32>, tensor<2x4x3x3x16x32xf32>) -> tensor<1x4x56x56x16xf32>
After:
    %u = relay.constant #relay.param<...> : tensor<6x6x2x4x16x32xf32>   (the transformed weight)
    %l = relay.constant #relay.param<...> : tensor<f32>                 (how large a tile of data may be for it)
    %y = relay.nn.contrib_conv2d_winograd_NCHWc %x, %u, %w, %l {channels = 64, padding = [1, 1], tile_size = 4} : ...

Only constant weights: the transformed ones are derived parameters, computed at link time. Tiles of 4 x 4 take a
quarter of a convolution's multiplications, tiles of 2 x 2 four ninths, and less than half of the weights: these take
less time where the image is small and weights come from memory, as they do where those of the model fill the cache.
`tile-size=2` takes no others, `tile-size=0` leaves convolutions as they are.

Results differ from the direct sum by rounding (docs/numerics.md); tiles whose inputs differ so much in size that this
would show, and those with infinities, are summed directly. (Lavin and Gray, "Fast Algorithms for Convolutional Neural
Networks", 2015.)
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar

from xdsl.ir import Operation
from xdsl.utils.exceptions import VerifyException

from lamina.backends.cpu.costs import Costs, for_target
from lamina.backends.cpu.winograd_costs import cycles, estimate, outputs, products
from lamina.dialects import relay as r
from lamina.dialects.choices import Choices, spelling
from lamina.dialects.dtypes import bytes_of_type, ir_type
from lamina.dialects.infos import hint_of, is_symbolic, least_of, tensor_info
from lamina.dialects.relay.base import attrs_of
from lamina.dialects.relay.core import ConstantOp
from lamina.dialects.relay.nn.conv_blocked import ContribConv2dNCHWcOp
from lamina.dialects.relay.params import store_of
from lamina.dialects.relay.windows import pairs
from lamina.dialects.rules.terms import attr, const, var
from lamina.dialects.target import module_target
from lamina.passes.base import Context, ModuleOp, ModulePass, node_names
from lamina.passes.relay.fold.fold_constant import fold_ops
from lamina.passes.rules.draws import one_of, tensor
from lamina.passes.rules.rewriting import Rules

WEIGHT = "relay.nn.contrib_conv2d_winograd_NCHWc_weight_transform"
LIMIT = "relay.nn.contrib_conv2d_winograd_NCHWc_limit"
TILE_SIZES = (2, 4)

x, w = var("x"), const("w")
p, n, k = attr("p n k")


def pays(data: Sequence[int], weight: Sequence[int], padding: Sequence[int], tile: int, costs: Costs) -> bool:
    """Whether a convolution with kernels of 3x3 has so much fewer multiplications in tiles that it pays."""
    if tuple(weight[2:4]) != (3, 3):
        return False
    rows, columns = outputs(data, padding)
    gain = 9 * rows * columns / products(rows, columns, tile)
    return data[0] * rows * columns >= costs.winograd_outputs and gain >= costs.winograd_gain


def least_regret(tiles: Sequence[int], times: Sequence[Callable[[int], float]]) -> int:
    """The tile that takes, in the worst of some cases, least longer than the best one for the case."""
    best = [min(map(time, tiles)) for time in times]
    return min(tiles, key=lambda tile: max(time(tile) / least for time, least in zip(times, best, strict=True)))


def some_padding(rng: Any) -> tuple[int, ...]:
    """Draws a padding that differs from side to side."""
    return tuple(int(n) for n in rng.integers(0, 3, 4))


@cache
def in_tiles(lanes: int, tile: int) -> Rules:
    """conv2d_NCHWc(x, w) = winograd_NCHWc(x, weight_transform(w)), for kernels of 3x3."""
    rules = Rules("cpu-winograd")
    layout = f"NCHW{lanes}c"
    for block in (lanes, 2 * lanes):
        direct = r.nn.contrib_conv2d_NCHWc(
            x, w, strides=(1, 1), dilation=(1, 1), groups=1, padding=p, channels=n, kernel_size=k, out_dtype="",
            data_layout=layout, kernel_layout=f"OIHW{lanes}i{block}o", out_layout=layout,
        )  # fmt: skip
        weight = r.nn.contrib_conv2d_winograd_NCHWc_weight_transform(w, tile_size=tile)
        limit = r.nn.contrib_conv2d_winograd_NCHWc_limit(weight, tile_size=tile)
        tiled = r.nn.contrib_conv2d_winograd_NCHWc(
            x, weight, w, limit, tile_size=tile, padding=p, channels=n, kernel_size=k
        )
        rule = direct >> tiled
        # The ops' samples have other blocks, or other kernels.
        data, kernel = tensor(1, 1, 9, 7, lanes), tensor(1, 1, 3, 3, lanes, block)
        rules += rule.drawing(x=data, w=kernel, n=one_of(block), p=some_padding, k=one_of(None, (3, 3)))
    return rules


in_tiles_of_4 = in_tiles(16, 4)
"""The rule for 512-bit vectors of f32, where the equation tests find it."""


def constant_bytes(module: ModuleOp) -> int:
    """Bytes of all constants of a module, each of which is read once while it runs."""
    return sum(bytes_of_type(o.results[0].type) for o in module.walk() if isinstance(o, ConstantOp))


@dataclass(frozen=True)
class CpuWinograd(ModulePass):
    """3x3 convolutions from products of transformed tiles."""

    name = "cpu-winograd"
    opt_level: ClassVar[int] = 3
    numerics: ClassVar[str] = "fast"
    tile_size: int = 4
    """Most rows of the result in a tile: 4, 2, or 0 for none."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.tile_size not in (0, *TILE_SIZES):
            raise VerifyException(f"cpu-winograd: tile-size is 4, 2, or 0 for none; not {self.tile_size}")
        target = module_target(op)
        if target is None:
            raise VerifyException("cpu-winograd: the module names no 'lamina.target'")
        sizes = self.sizes(ctx, op)
        for size in sorted({n for n in sizes.values() if n}):
            in_tiles(target.lanes(32), size).apply(op, only=lambda conv, size=size: sizes.get(conv) == size)
        if sizes:
            transforms = [o for o in op.walk() if o.name in (WEIGHT, LIMIT)]
            # They are larger than the weights, by a factor that is known: fold them whatever their size.
            fold_ops(transforms, store_of(ctx), sys.maxsize)

    def sizes(self, ctx: Context, module: ModuleOp) -> dict[Operation, int]:
        """The size of the tiles of each convolution that may be done in tiles, 0 for none, as the module chooses."""
        choices = Choices.of(module, ctx)
        target = module_target(module)
        lanes, costs = target.lanes(32) if target is not None else 1, for_target(target)
        found: dict[Operation, int] = {}
        weights = constant_bytes(module)
        for conv in module.walk():
            if not isinstance(conv, ContribConv2dNCHWcOp) or not isinstance(conv.operands[1].owner, ConstantOp):
                continue
            attrs = attrs_of(conv)
            if {*attrs["strides"], *attrs["dilation"], attrs["groups"]} != {1}:
                continue
            (data, dtype), (weight, _) = (tensor_info(v.type) for v in conv.operands[:2])
            # Tiles of an image are counted by a product of quotients, which no extent can be.
            if dtype not in ("float32", "float64") or any(map(is_symbolic, data[2:])):
                continue
            # Of a batch that only a run tells the smallest and a usual one.
            batches = [(n, *data[1:]) for n in dict.fromkeys((max(least_of(data[0]), 1), hint_of(data[0])))]
            data = batches[-1]
            padding, others = attrs["padding"], weights - bytes_of_type(conv.operands[1].type)
            fit = [n for n in reversed(TILE_SIZES) if pays(data, weight, padding, n, costs)]
            if not fit:
                continue
            own = self.tile_size if self.tile_size in fit else 0
            if own == TILE_SIZES[-1]:
                times = [partial(cycles, d, weight, padding, lanes, costs, others) for d in batches]
                own = least_regret((*fit, 0), times)
            rest = [n for n in (*fit, 0) if n != own]
            before, after = pairs(padding, 2)
            sides = spelling((*before, *after))
            question = f"winograd {spelling((*data, ir_type(dtype)))} by {spelling(weight)} padded {sides}"
            found[conv] = choices.pick(
                question,
                [own, *rest],
                node_names(conv.location),
                estimate=partial(estimate, data, weight, padding, lanes, costs, others),
                why="tile-size says so",
            )
        choices.tell(ctx)
        return found
