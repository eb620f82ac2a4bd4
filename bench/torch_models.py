"""PyTorch's models compiled by `torch.compile(backend="lamina")`, by turns with eager torch and inductor.

    python bench/torch_models.py resnet18 bert --threads 1 --seconds 3
    python bench/torch_models.py --all --no-inductor

Needs torch, torchvision and transformers; weights are random. Of each model: the median of a call, the ratios of theirs
to ours, with weights as inputs and with `freeze`, the seconds of the first call, and how far results are apart.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import argparse
import logging
import math
import os
import statistics
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

# First calls are compared as they are without any cache; torch reads this as it is imported.
os.environ.setdefault("TORCHINDUCTOR_FORCE_DISABLE_CACHES", "1")

import torch  # noqa: E402

import lamina.torch  # noqa: E402, F401  (the backend is an entry point; what is not installed is told here)

VISION = (
    "resnet18", "resnet50", "mobilenet_v2", "mobilenet_v3_small", "squeezenet1_1", "shufflenet_v2_x1_0", "densenet121",
    "efficientnet_b0", "convnext_tiny", "swin_t",
)  # fmt: skip
TEXT = ("bert", "gpt2", "distilbert", "vit", "llama", "t5_encoder")


def vision(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A network of torchvision, and an image."""
    if not hasattr(torch.ops.torchvision, "nms"):
        # Without its own library torchvision wants these operators declared; the networks do not use them.
        library = torch.library.Library("torchvision", "DEF")
        for operator in ("nms", "qnms"):
            library.define(f"{operator}(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
        vision.library = library
    import torchvision

    return getattr(torchvision.models, name)(weights=None).eval(), (torch.randn(1, 3, 224, 224),)


def text(name: str) -> tuple[Any, tuple[Any, ...]]:
    """A network of transformers, and a sequence of 128 tokens."""
    import transformers as t

    tokens = (torch.randint(0, 1000, (1, 128)),)
    made: dict[str, Callable[[], Any]] = {
        "bert": lambda: t.BertModel(t.BertConfig()),
        "gpt2": lambda: t.GPT2Model(t.GPT2Config(use_cache=False)),
        "distilbert": lambda: t.DistilBertModel(t.DistilBertConfig()),
        "vit": lambda: t.ViTModel(t.ViTConfig()),
        "llama": lambda: t.LlamaModel(t.LlamaConfig(
            hidden_size=512, intermediate_size=1376, num_hidden_layers=6, num_attention_heads=8, num_key_value_heads=4,
            vocab_size=4096, use_cache=False)),
        "t5_encoder": lambda: t.T5EncoderModel(t.T5Config()),
    }  # fmt: skip
    return made[name]().eval(), ((torch.randn(1, 3, 224, 224),) if name == "vit" else tokens)


def first(found: Any) -> Any:
    """The first tensor of a result."""
    return (
        found
        if isinstance(found, torch.Tensor)
        else first(next(iter(found.values() if hasattr(found, "values") else found)))
    )


def measure(name: str, seconds: float, inductor: bool) -> dict[str, float]:
    """The row of a model, printed as well."""
    torch.manual_seed(0)
    model, inputs = vision(name) if name in VISION else text(name)
    ways: dict[str, Any] = {"eager": model}
    compile_seconds: dict[str, float] = {}
    plans: list[tuple[str, dict[str, Any]]] = [
        ("lamina", {"backend": "lamina", "options": {"cache": False}}),
        ("frozen", {"backend": "lamina", "options": {"freeze": True, "cache": False}}),
    ]  # fmt: skip
    if inductor:
        plans.append(("inductor", {}))
    with torch.no_grad():
        wanted = first(model(*inputs))
        apart = 0.0
        for way, options in plans:
            torch._dynamo.reset()
            started = time.perf_counter()
            ways[way] = torch.compile(lambda *a: model(*a), **options)
            found = first(ways[way](*inputs))
            compile_seconds[way] = time.perf_counter() - started
            apart = max(apart, float((found - wanted).abs().max() / wanted.abs().max().clamp_min(1e-9)))
        for call in ways.values():  # what a reset has thrown away is compiled again here
            call(*inputs)
        times: dict[str, list[float]] = {way: [] for way in ways}
        end = time.perf_counter() + seconds * len(ways)
        while time.perf_counter() < end:
            for way, call in ways.items():
                started = time.perf_counter()
                call(*inputs)
                times[way].append(time.perf_counter() - started)
    middle = {way: statistics.median(t) for way, t in times.items()}
    row = {f"{way} / {ours}": middle[way] / middle[ours]
           for ours in ("lamina", "frozen") for way in ("eager", "inductor") if way in middle}  # fmt: skip
    ms = "  ".join(f"{way} {1e3 * t:.1f} ms" for way, t in middle.items())
    ratios = "  ".join(f"{k} {v:.2f}" for k, v in row.items())
    compiled = ", ".join(f"{way} {s:.1f} s" for way, s in compile_seconds.items())
    print(f"{name:20} {ms}\n{'':20} {ratios}  first call: {compiled}  apart {apart:.1e}", flush=True)
    return row


def main() -> int:
    """Measure models."""
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    parser = argparse.ArgumentParser(description="PyTorch's models by turns with eager torch and inductor.")
    parser.add_argument("models", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--no-inductor", action="store_true")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    rows = [measure(n, args.seconds, not args.no_inductor) for n in ([*VISION, *TEXT] if args.all else args.models)]
    for key in rows[0] if rows else ():
        values = [r[key] for r in rows]
        mean = math.exp(statistics.fmean(map(math.log, values)))
        print(f"{key}: geometric mean {mean:.2f}, least {min(values):.2f}, over {len(values)} models")
    return 0


if __name__ == "__main__":
    sys.exit(main())
