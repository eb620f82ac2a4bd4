"""Operators that make features of data: thresholds, picked columns, counts of n-grams."""

from __future__ import annotations

from math import prod

import numpy as np

from lamina.frontends.builder import Value
from lamina.frontends.onnx.builder import Builder, Node
from lamina.frontends.onnx.convert_index import from_front
from lamina.frontends.onnx.registry import onnx_op

MOST_COMPARED = 1 << 28
"""Elements: each window of the input is compared with each n-gram."""


@onnx_op("Binarizer", domain="ai.onnx.ml")
def binarizer(n: Node, b: Builder) -> Value:
    """1 where an element is above the threshold, else 0."""
    x = n.input(0)
    return b.cast(b.op("greater", x, b.scalar(n.attr("threshold", 0.0), x)), x.dtype)


@onnx_op("ArrayFeatureExtractor", domain="ai.onnx.ml")
def array_feature_extractor(n: Node, b: Builder) -> Value:
    """The columns of the last axis that are listed; of a vector as a matrix of one row."""
    x, places = n.input(0), n.input(1)
    if not x.rank:
        raise n.fail("the input has rank 0")
    if x.rank == 1:
        x = b.reshape(x, (1, *x.shape))
    flat = b.reshape(places, (prod(places.shape),))
    return b.op("take", x, from_front(n, b, flat, x.shape[-1]), axis=x.rank - 1, mode="clip")


@onnx_op("TfIdfVectorizer")
def tf_idf_vectorizer(n: Node, b: Builder) -> Value:
    """Count each n-gram of a pool in each row, its elements next to each other or some apart.

    The pool lists all 1-grams, then all 2-grams, and so on; `ngram_indexes` has the column of each.
    """
    if n.attr("pool_strings"):
        raise n.unsupported("n-grams of strings are not supported", "map them to numbers first")
    x = n.input(0)
    if x.dtype not in ("int32", "int64") or x.rank not in (1, 2):
        raise n.fail("expects a vector or a matrix of integers")
    mode = n.attr("mode")
    if mode not in ("TF", "IDF", "TFIDF"):
        raise n.fail(f"mode is {mode!r}, expects TF, IDF or TFIDF")
    rows = x if x.rank == 2 else b.reshape(x, (1, *x.shape))
    columns = list(n.attr("ngram_indexes"))
    grams = _pool(n, len(columns))
    total = max(columns, default=-1) + 1
    counts = [_counted(n, b, rows, pool) for pool in grams if len(pool)]
    # The last one is what n-grams have that are not looked for.
    none = b.constant(np.zeros((rows.shape[0], 1), np.float32))
    source = np.full(total, len(columns), np.int64)
    source[columns] = np.arange(len(columns))
    found = b.op("concatenate", *counts, none, axis=1)
    result = b.op("take", found, b.constant(source), axis=1, mode="clip")
    if mode == "IDF":
        result = b.cast(b.op("greater", result, b.scalar(0, result)), "float32")
    weights = n.attr("weights", ())
    if mode != "TF" and weights:
        if len(weights) != len(columns):
            raise n.fail(f"there are {len(weights)} weights for {len(columns)} n-grams")
        placed = np.ones(total, np.float32)
        placed[columns] = weights
        result = b.op("multiply", result, b.constant(placed))
    return result if x.rank == 2 else b.reshape(result, (total,))


def _pool(n: Node, count: int) -> list[np.ndarray[tuple[int, int], np.dtype[np.int64]]]:
    """The n-grams of each length, as the rows of a matrix."""
    pool, starts = np.asarray(n.attr("pool_int64s", ()), np.int64), list(n.attr("ngram_counts"))
    found: list[np.ndarray[tuple[int, int], np.dtype[np.int64]]] = []
    for k, (start, end) in enumerate(zip(starts, [*starts[1:], len(pool)], strict=True)):
        if not 0 <= start <= end <= len(pool) or (end - start) % (k + 1):
            raise n.fail(f"ngram_counts {starts} do not divide a pool of {len(pool)} numbers")
        found.append(pool[start:end].reshape(-1, k + 1))
    if sum(map(len, found)) != count:
        raise n.fail(f"the pool has {sum(map(len, found))} n-grams, ngram_indexes {count}")
    return found


def _counted(n: Node, b: Builder, rows: Value, pool: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Value:
    """The count of each n-gram of one length in each row: float32[rows, n-grams]."""
    batch, extent = rows.shape
    grams, length = pool.shape
    total = b.constant(np.zeros((batch, grams), np.float32))
    if not n.attr("min_gram_length") <= length <= n.attr("max_gram_length"):
        return total
    # Single elements have no distance.
    for distance in range(1, (n.attr("max_skip_count") + 1 if length > 1 else 1) + 1):
        windows = extent - (length - 1) * distance
        if windows < 1:
            break
        if batch * windows * grams > MOST_COMPARED:
            raise n.unsupported(f"{batch * windows} windows and {grams} n-grams are more than can be compared")
        here: Value | None = None
        for k in range(length):
            part = b.op("strided_slice", rows, begin=[k * distance], end=[k * distance + windows], axes=[1])
            wanted = b.constant(pool[:, k].astype(rows.dtype))
            same = b.op("equal", b.op("expand_dims", part, axis=2), wanted)
            here = same if here is None else b.op("logical_and", here, same)
        assert here is not None
        total = b.op("add", total, b.op("sum", b.cast(here, "float32"), axis=[1]))
    return total
