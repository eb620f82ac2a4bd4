"""Random bits from a key that is passed on: random.threefry_generate and random.threefry_split.

Numbers are Threefry-4x64 of 20 rounds (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3",
2011), without the addition of the key after the last round, as in TVM: each block of four numbers is a hash of the
key's words 0..3 over a counter. A key (ten uint64) holds

    0..3  key      4, 5  path      6, 7  counter      8, 9  where the path goes on: one bit of 128

and a block's counter is words 4..7, each with the block's number added. What is generated moves the counter on; a split
appends a bit to the path. Where either is used up a new key is hashed from the old (Claessen and Palka, "Splittable
pseudorandom number generators using cryptographic hashing", 2013).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from lamina.dialects.relay.declare import *
from lamina.dialects.relay.row_loops import statements

KEY = TensorInfo((10,), "uint64")
ROTATIONS = ((14, 16), (52, 57), (23, 40), (5, 37), (25, 33), (46, 12), (58, 22), (32, 32))
PARITY = 0x1BD11BDAA9FC1A22
ONES = (1 << 64) - 1
_MOST = 1 << 40
"""More numbers than this are no tensor."""


def threefry_key(seed: int) -> Array:
    """The key that a seed stands for, a number of up to 256 bits. Raises OverflowError for others."""
    words = np.frombuffer(seed.to_bytes(32, "little"), np.dtype("<u8")).astype(np.uint64)
    return np.concatenate([words, np.asarray([0, 0, 0, 0, 1 << 63, 0], np.uint64)])


# -- the hash, over scalars of te ------------------------------------------------------------------


def _hash(key: Sequence[Scalar], counter: Sequence[Scalar]) -> list[Scalar]:
    """One block: four words of the key over four of the counter."""
    last = te.const(PARITY, "uint64")
    for word in key:
        last = last ^ word
    words, x = [*key, last], list(counter)
    for turn in range(5):
        x = [w + words[(turn + j) % 5] for j, w in enumerate(x)]
        x[3] = x[3] + turn
        for k in range(4):
            for pair, rotation in enumerate(ROTATIONS[(4 * turn + k) % 8]):
                a, b = x[2 * pair], x[2 * pair + 1]
                total = a + b
                x[2 * pair], x[2 * pair + 1] = total, total ^ ((b << rotation) | (b >> (64 - rotation)))
            x = [x[0], x[3], x[2], x[1]]
    return x


def _further(high: Scalar, low: Scalar) -> tuple[Scalar, Scalar]:
    """The bit of 128 that stands one place further right; none is left after the last."""
    return high >> 1, (low >> 1) | (high << 63)


def _used_up(gen: Sequence[Scalar]) -> Scalar:
    return te.equal(gen[8], 0) & te.equal(gen[9], 0)


def _either(condition: Scalar, then: Sequence[Any], otherwise: Sequence[Any]) -> list[Scalar]:
    return [
        te.select(condition, te.const(a, "uint64"), te.const(b, "uint64")) for a, b in zip(then, otherwise, strict=True)
    ]


def _with_room(gen: list[Scalar], count: int) -> list[Scalar]:
    """The key from which `count` numbers can be generated: itself, the path that goes right from it, or a new one."""
    room = gen[7] < te.const(ONES - count, "uint64")
    fresh = [*_hash(gen[:4], [te.const(ONES, "uint64")] * 4), 0, 0, 0, 0, 1 << 63, 0]
    right = [*gen[:4], gen[4] | gen[8], gen[5] | gen[9], 0, 0, *_further(gen[8], gen[9])]
    return _either(room, gen, _either(_used_up(gen), fresh, right))


def generate(key: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The key to go on with, and at least `count` numbers in a row."""
    blocks = -(-count // 4)

    def state(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
        gen = _with_room([ins[0][k] for k in range(10)], count)
        for k, word in enumerate(gen):
            outs[0][k] = word
            outs[1][k] = gen[7] + 4 * blocks if k == 7 else te.const(0, "uint64") if k == 6 else word

    used, after = statements.extern([(10,), (10,)], [key], state, "threefry_state", ["uint64"] * 2)

    def numbers(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
        gen = ins[0]
        with ib.for_range(0, blocks, "b", "parallel" if blocks > 1 else "serial") as b:
            number: Any = te.cast(te.cast(b, "int64"), "uint64")
            counter = [gen[4 + j] + number for j in range(4)]
            if count % 4:
                # What is left over comes from the counter moved on as far as numbers were generated.
                moved = [gen[4], gen[5], gen[6], gen[7] + 4 * (blocks - 1)]
                counter = [te.select(b >= blocks - 1, m, c) for m, c in zip(moved, counter, strict=True)]
            for j, word in enumerate(_hash([gen[j] for j in range(4)], counter)):
                outs[0][b * 4 + j] = word

    (found,) = statements.extern([(4 * blocks,)], [used], numbers, "threefry_numbers", ["uint64"])
    return after, found


def shaped(
    numbers: Tensor, shape: Sequence[int], element: Callable[[Scalar], Scalar], first: int = 0
) -> Callable[..., Scalar]:
    """`element` of the numbers from `first` on, as an equation over a shape."""

    def read(*i: Index) -> Scalar:
        flat: Any = first
        for index, extent in zip(i, shape, strict=True):
            flat = index + (flat - first) * extent + first
        return element(numbers[flat])

    return read


# -- the same in numpy -----------------------------------------------------------------------------


def hash_ref(key: Array, counter: Array, finish: bool = False) -> Array:
    """Blocks of four words [4, n] over a key [4] and counters [4, n], round by round. `finish` adds the key once more,
    as the paper does."""
    schedule = np.concatenate([key, [np.bitwise_xor.reduce(key) ^ np.uint64(PARITY)]])
    x = counter.astype(np.uint64)

    def added(turn: int) -> Array:
        words = np.roll(schedule, -turn)[:4].copy()
        words[3:] += np.uint64(turn)
        return x + words[:, None]

    for number in range(20):
        if number % 4 == 0:
            x = added(number // 4)
        left = np.asarray(ROTATIONS[number % 8], np.uint64)[:, None]
        even, odd = x[0::2] + x[1::2], x[1::2]
        turned = (odd << left) | (odd >> (np.uint64(64) - left))
        x = np.stack([even[0], even[1] ^ turned[1], even[1], even[0] ^ turned[0]])
    return added(5) if finish else x


def _new_key_ref(key: Array, counter: Array, path: int, position: int) -> Array:
    block = hash_ref(key[:4], counter[:, None])[:, 0]
    return np.concatenate([block, np.asarray([path, 0, 0, 0, position, 0], np.uint64)])


def _right_ref(key: Array) -> Array:
    """The key whose path goes right from here."""
    path, position = (int(key[k]) << 64 | int(key[k + 1]) for k in (4, 8))
    return _placed_ref(key, path | position, position >> 1)


def _placed_ref(key: Array, path: int, position: int) -> Array:
    words = [path >> 64, path & ONES, int(key[6]), int(key[7]), position >> 64, position & ONES]
    return np.concatenate([key[:4], np.asarray(words, np.uint64)])


def generate_ref(key: Array, count: int) -> tuple[Array, Array]:
    """The key to go on with, and `count` numbers."""
    gen = key.copy()
    if int(gen[7]) >= ONES - count:
        if gen[8] or gen[9]:
            gen = _right_ref(gen)
            gen[6:8] = 0
        else:
            gen = _new_key_ref(gen, np.full(4, ONES, np.uint64), 0, 1 << 63)
    whole = np.arange(count // 4, dtype=np.uint64)
    numbers = hash_ref(gen[:4], gen[4:8, None] + whole).T.reshape(-1)
    gen[7:8] += np.uint64(4 * (count // 4))
    if count % 4:
        numbers = np.concatenate([numbers, hash_ref(gen[:4], gen[4:8, None])[: count % 4, 0]])
        gen[7:8] += np.uint64(4)
    gen[6] = 0
    return gen, numbers


# -- ops -------------------------------------------------------------------------------------------


def check_key(key: TensorInfo) -> None:
    """Raises TypeMismatch where a key is no vector of ten uint64."""
    if tuple(key.shape) != KEY.shape or key.dtype != KEY.dtype:
        raise TypeMismatch(f"the key is {key}, expects {KEY}")


def check_shape(shape: Sequence[int]) -> None:
    """Raises TypeMismatch for a shape of no elements, or of more than 2^40."""
    if min(shape, default=1) < 1 or prod(shape) > _MOST:
        raise TypeMismatch(f"out_shape {list(shape)} is no shape of numbers to generate")


def _key_samples(error: str | None = None, **attrs: Any) -> list[Sample]:
    large = ((0.0, float(1 << 62)),)
    return [sample((KEY.shape, KEY.dtype), attrs=attrs, ranges=r, error=error) for r in (large, ((0.0, 0.0),), None)]


@irdl_op_definition
class ThreefryGenerateOp(RelayOp):
    """Numbers of 64 random bits in `out_shape`, after the key to use next."""

    name = "relay.random.threefry_generate"

    key = operand_def(TensorType)
    out_shape = ints_prop()
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(key: TensorInfo, *, out_shape: tuple[int, ...]) -> tuple[TensorInfo, ...]:
        check_key(key)
        check_shape(out_shape)
        return KEY, TensorInfo(tuple(out_shape), "uint64")

    @staticmethod
    def te_compute(key: Tensor, *, out_shape: tuple[int, ...]) -> list[Tensor]:
        after, numbers = generate(key, prod(out_shape))
        return [after, te.compute(out_shape, shaped(numbers, out_shape, lambda bits: bits), "threefry")]

    @staticmethod
    def np_ref(key: Array, *, out_shape: tuple[int, ...]) -> tuple[Array, ...]:
        after, numbers = generate_ref(key, prod(out_shape))
        return after, numbers.reshape(out_shape)

    @staticmethod
    def samples() -> list[Sample]:
        return [
            *_key_samples(out_shape=(4,)),
            *_key_samples(out_shape=(5, 3)),
            *(sample((KEY.shape, KEY.dtype), attrs={"out_shape": s}) for s in ((), (1,), (3, 4), (2, 1, 7))),
            sample((KEY.shape, KEY.dtype), attrs={"out_shape": (2, 0)}, error="out_shape [2, 0] is no shape"),
            sample(((10,), "int64"), attrs={"out_shape": (4,)}, error="expects tensor<10xui64>"),
            sample(((8,), "uint64"), attrs={"out_shape": (4,)}, error="expects tensor<10xui64>"),
        ]


@irdl_op_definition
class ThreefrySplitOp(RelayOp):
    """Two keys for a key that is used no more: what is generated from them has nothing to do with each other."""

    name = "relay.random.threefry_split"

    key = operand_def(TensorType)
    outputs = var_result_def(TensorType)

    @staticmethod
    def infer_type(key: TensorInfo) -> tuple[TensorInfo, ...]:
        check_key(key)
        return KEY, KEY

    @staticmethod
    def te_compute(key: Tensor) -> list[Tensor]:
        def body(ib: IRBuilder, ins: list[Buffer], outs: list[Buffer]) -> None:
            gen = [ins[0][k] for k in range(10)]
            fresh = _hash(gen[:4], gen[4:8])
            further = _further(gen[8], gen[9])
            left = [*gen[:8], *further]
            right = [*gen[:4], gen[4] | gen[8], gen[5] | gen[9], *gen[6:8], *further]
            ends = _used_up(gen)
            for out, path, going in zip(outs, (0, 1 << 63), (left, right), strict=True):
                for k, word in enumerate(_either(ends, [*fresh, path, 0, 0, 0, 1 << 62, 0], going)):
                    out[k] = word

        return statements.extern([(10,), (10,)], [key], body, "threefry_split", ["uint64"] * 2)

    @staticmethod
    def np_ref(key: Array) -> tuple[Array, ...]:
        if not (key[8] or key[9]):
            return tuple(_new_key_ref(key, key[4:8], path, 1 << 62) for path in (0, 1 << 63))
        path, position = (int(key[k]) << 64 | int(key[k + 1]) for k in (4, 8))
        return _placed_ref(key, path, position >> 1), _right_ref(key)

    @staticmethod
    def samples() -> list[Sample]:
        one = ((0.0, 1.0),)
        return [
            *_key_samples(),
            *(sample((KEY.shape, KEY.dtype), ranges=one) for _ in range(4)),
            sample((KEY.shape, KEY.dtype), ranges=((float(1 << 61), float(1 << 62)),)),
            sample(((10,), "int64"), error="expects tensor<10xui64>"),
            sample(((4,), "uint64"), error="expects tensor<10xui64>"),
        ]
