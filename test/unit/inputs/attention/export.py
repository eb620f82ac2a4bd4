# pyright: basic, reportMissingImports=false
"""The attention blocks of torch in this folder, as both of its exporters write them, without their weights.

No test runs this. To make the files anew, with torch 2.13 and onnxscript 0.7 in an environment of their own:

    python test/unit/inputs/attention/export.py

A block is called by what it is (`FORMS`, `VARIANTS`), the exporter and its size. Its weights are inputs of the graph,
after those of the block, and named in the model's metadata under `weights`: `test_attention_blocks.py` draws them. So
a file takes a few kilobytes.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import onnx
import torch
from torch import nn
from torch.nn import functional

SIZES = {"256": (256, 8, 16, 100, 1), "512": (512, 8, 196, 49, 1)}
"""Width, heads, length, length of what is attended to, batch."""
ODD = (192, 3, 49, 17, 3)
"""The size of the variants, in the same order."""
LEAST = 64
"""Elements from which on floats are weights, not constants of the graph."""


class Attention(nn.Module):
    """nn.MultiheadAttention of a sequence to itself or to another one."""

    def __init__(self, width: int, heads: int, weights: bool, average: bool = True, **options):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, heads, **options)
        self.options = {"need_weights": weights, "average_attn_weights": average}

    def forward(self, x, to=None, padding=None, mask=None):
        to = x if to is None else to
        y, weights = self.attention(x, to, to, key_padding_mask=padding, attn_mask=mask, **self.options)
        return y if weights is None else (y, weights)


class Masked(nn.Module):
    """A block that is given constants and masks by name."""

    def __init__(self, block: nn.Module, call: Callable):
        super().__init__()
        self.block = block
        self.call = call

    def forward(self, *inputs):
        return self.call(self.block, *inputs)


def sequence(batch: int, length: int, width: int, batch_first: bool):
    return torch.randn((batch, length, width) if batch_first else (length, batch, width))


def forms(size: tuple[int, ...]) -> Iterator[tuple[str, nn.Module, tuple]]:
    """The twelve: attention to itself and to another sequence, with weights and without, layers of an encoder and of a
    decoder; the sequence first or the batch."""
    width, heads, length, other, batch = size
    for first in (False, True):
        order = "batch_first" if first else "sequence_first"
        x, to = sequence(batch, length, width, first), sequence(batch, other, width, first)
        for weights in (False, True):
            says = "with_weights" if weights else "without_weights"
            block = Attention(width, heads, weights, batch_first=first)
            yield f"self_{says}_{order}", block, (x,)
            yield f"cross_{says}_{order}", block, (x, to)
        layer = {"dim_feedforward": 2 * width, "batch_first": first}
        yield f"encoder_layer_{order}", nn.TransformerEncoderLayer(width, heads, **layer), (x,)
        yield f"decoder_layer_{order}", nn.TransformerDecoderLayer(width, heads, **layer), (x, to)


def variants() -> Iterator[tuple[str, nn.Module, tuple]]:
    """What surrounds the twelve: masks, activations, norms first, stacks."""
    width, heads, length, other, batch = ODD
    x, to = sequence(batch, length, width, True), sequence(batch, other, width, True)
    columns = sequence(batch, length, width, False)
    causal = nn.Transformer.generate_square_subsequent_mask(length)
    hidden = torch.zeros(batch, length, dtype=torch.bool)
    hidden[:, length // 2 :] = True
    hidden_other = torch.zeros(batch, other, dtype=torch.bool)
    layer = {"dim_feedforward": 2 * width, "batch_first": True}
    gelu = {**layer, "activation": "gelu", "norm_first": True}

    yield "self_causal", Masked(Attention(width, heads, False, batch_first=True), lambda m, v: m(v, mask=causal)), (x,)
    yield "self_weights_of_each_head", Attention(width, heads, True, False), (columns,)
    yield "self_key_padding", Masked(Attention(width, heads, True), lambda m, v, k: m(v, padding=k)), (columns, hidden)
    padded = Masked(Attention(width, heads, False, batch_first=True), lambda m, v, w, k: m(v, w, padding=k))
    yield "cross_key_padding", padded, (x, to, hidden_other)
    narrow = Attention(width, heads, True, batch_first=True, kdim=64, vdim=64)
    yield "cross_narrow_keys", narrow, (x, sequence(batch, other, 64, True))
    yield "encoder_layer_gelu_norm_first", nn.TransformerEncoderLayer(width, heads, **gelu), (x,)
    encoder = nn.TransformerEncoderLayer(width, heads, **layer)
    yield "encoder_layer_causal", Masked(encoder, lambda m, v: m(v, src_mask=causal)), (x,)
    yield "encoder_layer_key_padding", Masked(encoder, lambda m, v, k: m(v, src_key_padding_mask=k)), (x, hidden)
    decoder = nn.TransformerDecoderLayer(width, heads, **gelu)
    yield "decoder_layer_causal", Masked(decoder, lambda m, v, w: m(v, w, tgt_mask=causal)), (x, to)
    plain = nn.TransformerEncoderLayer(width, heads, bias=False, **layer)
    yield "encoder_layer_without_biases", plain, (x,)
    yield "transformer", nn.Transformer(width, heads, 1, 1, 2 * width, batch_first=True), (x, to)


def exported(block: nn.Module, inputs: tuple, dynamo: bool, path: Path) -> onnx.ModelProto:
    if dynamo:
        torch.onnx.export(block, inputs, path, dynamo=True, external_data=False, verbose=False)
    else:
        torch.onnx.export(block, inputs, path, dynamo=False)
    return onnx.load(path)


def without_weights(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model with its weights as inputs, and nothing that says where it was made."""
    graph = model.graph
    weights = [t for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT and math.prod(t.dims) >= LEAST]
    kept = [t for t in graph.initializer if t not in weights]
    graph.input.extend(onnx.helper.make_tensor_value_info(t.name, t.data_type, t.dims) for t in weights)
    del graph.initializer[:], graph.value_info[:], graph.metadata_props[:], model.metadata_props[:], model.functions[:]
    graph.initializer.extend(kept)
    for part in (*graph.node, *graph.input, *graph.output, *graph.initializer):
        part.doc_string = ""
        del part.metadata_props[:]
    model.metadata_props.add(key="weights", value=" ".join(t.name for t in weights))
    onnx.checker.check_model(model)
    return model


def main() -> None:
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    # The older exporter traces a flag as a tensor, which this function refuses.
    attention = functional.scaled_dot_product_attention
    functional.scaled_dot_product_attention = lambda q, k, v, mask=None, dropout=0.0, is_causal=False: attention(
        q, k, v, mask, dropout, bool(is_causal)
    )
    folder = Path(__file__).parent
    sized = [(f"{name}.{n}", block, inputs) for n, size in SIZES.items() for name, block, inputs in forms(size)]
    odd = [(f"{name}.odd", block, inputs) for name, block, inputs in variants()]
    for name, block, inputs in [*sized, *odd]:
        for dynamo in (False, True):
            path = folder / f"{name}.{'dynamo' if dynamo else 'torchscript'}.onnx"
            model = exported(block.eval(), inputs, dynamo, path)
            path.write_bytes(without_weights(model).SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
