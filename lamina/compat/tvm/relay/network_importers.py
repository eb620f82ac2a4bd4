"""Networks of MXNet, Darknet and Caffe as `relay.frontend` is given them: objects of these frameworks, or files.

The frameworks themselves are not needed: of their objects only the text and bytes that they write are taken.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from lamina.errors import UsageError
from lamina.frontends.imported import ImportedModel
from lamina.frontends.network import import_network

if TYPE_CHECKING:
    from numpy.typing import NDArray


def _array(given: Any) -> NDArray[Any]:
    """The elements of an array of MXNet's, TVM's or NumPy's."""
    if hasattr(given, "asnumpy"):
        return np.asarray(given.asnumpy())
    return np.asarray(given.numpy() if hasattr(given, "numpy") else given)


def _shapes(shape: Any, name: str) -> dict[str, list[int]]:
    """Shapes by names of inputs; one shape alone is that of the input of this name."""
    if shape is None:
        return {}
    given = cast("Mapping[str, Any]", shape) if isinstance(shape, Mapping) else {name: shape}
    return {str(n): [int(e) for e in s] for n, s in given.items()}


def _is_path(given: Any) -> bool:
    return isinstance(given, os.PathLike) or isinstance(given, str) and len(given) < 4096 and "\n" not in given


def mxnet_model(
    symbol: Any, shape: Any, dtype: Any, arg_params: Mapping[str, Any] | None, aux_params: Mapping[str, Any] | None
) -> ImportedModel:
    """A symbol of MXNet's (what has `tojson`, or the JSON) with its arrays by their names."""
    from lamina.frontends.mxnet.reader import TABLE, read_symbol

    text = symbol.tojson() if hasattr(symbol, "tojson") else symbol
    if not isinstance(text, str):
        hint = "block.export(prefix), and lamina.compat.mxnet.model.load_checkpoint(prefix, 0)"
        raise UsageError(f"from_mxnet takes a symbol, not {type(symbol).__name__}", hint=hint)
    weights = {n: _array(v) for n, v in {**(arg_params or {}), **(aux_params or {})}.items()}
    shapes = _shapes(shape, "data")
    dtypes = cast("Mapping[str, str]", dtype) if isinstance(dtype, Mapping) else dict.fromkeys(shapes, str(dtype))
    network = read_symbol(text, "symbol", shapes, weights, dtypes)
    taken = {n: s for n, s in shapes.items() if any(p.name == n for p in network.inputs)}
    return import_network(network, TABLE, taken, named_weights=True)


def darknet_model(net: Any, shape: Any) -> ImportedModel:
    """A network of Darknet's: a `.cfg` and a `.weights` file, in a pair or as attributes `cfg` and `weights`."""
    from lamina.frontends.darknet.reader import import_darknet

    if hasattr(net, "cfg") and hasattr(net, "weights"):
        cfg, weights = net.cfg, net.weights
    else:
        pair = cast("Sequence[Any]", net) if isinstance(net, (tuple, list)) else (net, None)
        cfg, weights = pair if len(pair) == 2 else (None, None)
    if not _is_path(cfg) or weights is not None and not _is_path(weights):
        hint = "a network that Darknet's library has loaded does not say which files it came from"
        raise UsageError("from_darknet takes the paths (net.cfg, net.weights)", hint=hint)
    return import_darknet(cfg, _shapes(shape, "data"), weights=weights, with_anchors=True)


def caffe_model(init_net: Any, predict_net: Any, shapes: Any) -> ImportedModel:
    """A network of Caffe's: messages NetParameter of the weights and of the layers, their bytes and text, or paths."""
    from lamina.frontends.caffe.blobs import blobs_of
    from lamina.frontends.caffe.reader import TABLE, read_network
    from lamina.frontends.companion import bytes_of, text_of

    if _is_path(init_net):
        data = bytes_of(Path(init_net))
    else:
        written = init_net.SerializeToString() if hasattr(init_net, "SerializeToString") else init_net
        if not isinstance(written, bytes):
            raise UsageError(f"init_net is a NetParameter, its bytes or a path, not {type(init_net).__name__}")
        data = np.frombuffer(written, np.uint8)
    # A message of protobuf's prints itself in the text format.
    text = text_of(Path(predict_net)) if _is_path(predict_net) else str(predict_net)
    label = str(predict_net) if _is_path(predict_net) else "predict_net"
    given = _shapes(shapes, "data")
    network = read_network(text, label, given, blobs_of(data, "init_net"))
    return import_network(network, TABLE, given, named_weights=True)
