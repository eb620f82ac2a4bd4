"""Networks of gluon's zoo with drawn weights, exported as files, with what MXNet 1.9.1 computes of an image.

    python test/oracles/mxnet/zoo.py FOLDER                 # a network of each family
    python test/oracles/mxnet/zoo.py FOLDER resnet50_v1     # these

Writes NAME-symbol.json, NAME-0000.params and, for test/oracles/test_zoo.py, NAME.npz: the input by "in NAME", what
MXNet computes of it as "own", and "out", the same in double precision.
It needs Python 3.8, with test/oracles/mxnet/requirements.txt.
"""

# pyright: basic, reportMissingImports=false, reportAttributeAccessIssue=false

from __future__ import annotations

import sys
from pathlib import Path

import mxnet as mx
import numpy as np
from mxnet.gluon.model_zoo.vision import get_model

NAMES = ("alexnet", "densenet121", "inceptionv3", "mobilenet0.25", "mobilenetv2_0.25", "resnet50_v1", "resnet18_v2",
         "squeezenet1.0", "vgg11_bn")  # fmt: skip


def forget(block: object) -> None:
    """Let the moments of a normalisation be those of the last batch alone."""
    if isinstance(block, mx.gluon.nn.BatchNorm):
        block._kwargs["momentum"] = 0.0


def write(folder: Path, name: str) -> None:
    """A network of the zoo whose moments are those of a batch, so that its values keep their size."""
    extent = 299 if name.startswith("inception") else 224
    mx.random.seed(1)
    net = get_model(name)
    net.initialize(mx.init.Xavier(magnitude=2))
    net.apply(forget)
    net.hybridize()
    with mx.autograd.record():
        y = net(mx.nd.random.normal(shape=(4, 3, extent, extent)))
    y.backward()  # it is this that writes the moments
    x = mx.nd.random.normal(shape=(1, 3, extent, extent))
    own = net(x).asnumpy()
    stem = name.replace(".", "_")
    net.export(str(folder / stem), epoch=0)
    net.cast("float64")
    y = net(x.astype("float64")).asnumpy()
    np.savez_compressed(folder / (stem + ".npz"), **{"in data": x.asnumpy(), "own": own, "out": y})
    print(name, flush=True)


if __name__ == "__main__":
    where = Path(sys.argv[1])
    where.mkdir(parents=True, exist_ok=True)
    for each in sys.argv[2:] or NAMES:
        write(where, each)
