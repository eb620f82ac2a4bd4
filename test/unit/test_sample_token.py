"""Tokens that a program samples itself: by the likeliest, and by probabilities, against numpy."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import lamina
from lamina import transform
from lamina.errors import UnsupportedError, UsageError

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from language_models import Dimensions, gpt, llama  # noqa: E402

pytestmark = pytest.mark.slow


def table_model(batch: int, table: Any) -> Any:
    """A model whose logits are rows of a table."""
    shapes = {"ids": (TensorProto.INT64, [batch, "rows"]), "logits": (TensorProto.FLOAT, [batch, "rows", None])}
    ports = [helper.make_tensor_value_info(name, *what) for name, what in shapes.items()]
    nodes = [helper.make_node("Gather", ["table", "ids"], ["logits"])]
    graph = helper.make_graph(nodes, "table", ports[:1], ports[1:], [numpy_helper.from_array(table, "table")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.mark.parametrize("make", [gpt, pytest.param(llama, marks=pytest.mark.long)])
def test_the_likeliest_tokens_of_a_language_model(make: Any) -> None:
    size = Dimensions(layers=2, context=32)
    shapes: Any = {"batch": 1, "seq": "?", "past": "?"}
    model = lamina.load(make(size), shapes, states=size.states())
    plain, sampled = (lamina.compile(m, threads=1, cache=False) for m in (model, transform.SampleToken()(model)))
    assert [p.name for p in sampled.outputs] == [*(p.name for p in plain.outputs), "token"]
    sessions = plain.session(capacity=32), sampled.session(capacity=32)
    given = np.array([[3, 1, 4, 1, 5]], np.int64)
    for _ in range(12):
        logits, found = sessions[0].run({"ids": given})["logits"], sessions[1].run({"ids": given})
        np.testing.assert_array_equal(found["token"], logits[:, -1:].argmax(-1))
        given = found["token"]


@pytest.mark.parametrize("temperature", [1.0, 0.5])
def test_tokens_are_drawn_by_their_probabilities(temperature: float) -> None:
    batch, top_k = 1000, 5
    table = np.random.default_rng(0).standard_normal((3, 40)).astype(np.float32) * 1.5
    model = lamina.load(table_model(batch, table), {"rows": "1..4"})
    drawn = transform.SampleToken(top_k=top_k, temperature=temperature, seed=11)(model)
    exe = lamina.compile(drawn, threads=1, cache=False)
    session, again = exe.session(), exe.session()
    counts = np.zeros(40)
    ids = np.full((batch, 2), 1, np.int64)
    for _ in range(8):
        tokens = session.run({"ids": ids})["token"]
        np.testing.assert_array_equal(again.run({"ids": ids})["token"], tokens)
        counts += np.bincount(tokens[:, 0], minlength=40)
    best = np.argsort(-table[1])[:top_k]
    assert counts.sum() == counts[best].sum() == 8 * batch
    weights = np.exp(table[1][best].astype(np.float64) / temperature)
    expected = weights / weights.sum()
    # Four standard deviations of a binomial distribution.
    assert np.all(np.abs(counts[best] / (8 * batch) - expected) < 4 * np.sqrt(expected * (1 - expected) / (8 * batch)))
    seeds = [
        lamina.compile(transform.SampleToken(top_k=top_k, seed=n)(model), threads=1, cache=False).session()
        for n in (11, 12)
    ]
    assert not np.array_equal(*(session.run({"ids": ids})["token"] for session in seeds))


def test_mistakes_are_named() -> None:
    model = lamina.load(table_model(1, np.ones((3, 8), np.float32)), {"rows": 2})
    for options, error, said in (
        ({"top_k": 9}, UsageError, "top-k is 9, there are 8 tokens"),
        ({"temperature": 0.0}, UsageError, "the temperature above 0"),
        ({"logits": "logit"}, UsageError, "there is no result 'logit'; did you mean 'logits'?"),
    ):
        with pytest.raises(error, match=said):
            transform.SampleToken(**options)(model)
    deep = lamina.load(table_model(1, np.ones((3, 4, 8), np.float32)), {"rows": 2})
    with pytest.raises(UnsupportedError, match="rank 4; logits are"):
        transform.SampleToken()(deep)
