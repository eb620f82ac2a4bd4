"""MXNet's checkpoints without MXNet: `import lamina.compat.mxnet as mx` for programs that load one for a compiler.

mx_sym, arg_params, aux_params = mx.model.load_checkpoint(prefix, epoch)
mod, params = relay.frontend.from_mxnet(mx_sym, {"data": (1, 3, 224, 224)}, "float32", arg_params, aux_params)
"""

from lamina.compat.mxnet import model

__all__ = ["model"]
