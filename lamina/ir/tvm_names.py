"""Names of TVM's that are not bridged: what to use instead, and the error that says so."""

from __future__ import annotations

from collections.abc import Iterable

from lamina.errors import did_you_mean

VERSION = "0.19.0"
"""The last release of TVM with the interfaces that are here."""
INSTEAD: dict[str, str] = {
    "autotvm.graph_tuner": "`lamina tune`, which measures whole models in the end",
    "auto_scheduler.SketchPolicy": "task.tune(...): there is one policy",
    "auto_scheduler.LocalRPCMeasureContext": "auto_scheduler.LocalRunner()",
    "meta_schedule": "`lamina tune` for models, schedules written by hand for tensor programs",
    "rpc": "programs on this machine",
    "micro.Session": "the object of export_model_library_format, in a program of yours",
    "driver.build": "tvm.build",
    "target.datatype": "a type that there is: float32, float16, bfloat16, integers",
    "ir.register_intrin_lowering": "te.exp and its kin, which the target computes",
    "tir.transform": "opt-tool and the passes of passes/tir; lamina.transform.module_pass for one of your own",
    "tir.call_packed": "statements in the program itself: tir.ir_builder",
    "tir.call_llvm_intrin": "te.fma, te.exp and their kin",
    "topi.testing": "numpy",
    "topi.generic": "te.create_schedule and its primitives",
    "topi.x86": "te.create_schedule and its primitives",
    "topi.cuda": "te.create_schedule and its primitives, with loops bound to te.thread_axis",
    "contrib.tedd": "print(tvm.lower(s, args))",
    "contrib.cblas": 'relay.build with the target "openblas, llvm"',
    "contrib.dnnl": "relay.op.contrib.dnnl.partition_for_dnnl",
    "relay.op.strategy": "a schedule in backends/<target>",
    "relay.backend.te_compiler": "relay.build",
    "relay.backend.compile_engine": "relay.build",
    "relay.data_dep_optimization": "relay.transform.DenseToSparse and relay.transform.SimplifyFCTranspose",
    "relax": "tvm.relay",
    "script": "tvm.te, or the text of the tir dialect",
    "relay.frontend.from_paddle": "paddle2onnx, then relay.frontend.from_onnx",
    "relay.frontend.from_caffe2": "an export to ONNX, then relay.frontend.from_onnx",
    "relay.frontend.from_coreml": "an export to ONNX, then relay.frontend.from_onnx",
    "relay.frontend.from_oneflow": "an export to ONNX, then relay.frontend.from_onnx",
    "relay.quantize": "a quantised ONNX model, whose qnn operators are exact",
    "relay.op.register_compute": "an op class in dialects/relay (CONTRIBUTING.md: add an op)",
    "relay.op.register": "an op class in dialects/relay (CONTRIBUTING.md: add an op)",
    "relay.op.register_strategy": "a schedule in backends/<target>",
    "relay.nn.correlation": "a composition of slices, products and means",
    "relay.nn.fifo_buffer": "relay.concatenate and relay.strided_slice",
    "relay.transform.PartialEvaluate": "relay.transform.FoldConstant",
    "relay.TypeRelation": "`infer_type` of an op class in dialects/relay",
    "relay.collage": "relay.transform.AnnotateTarget with the preferred compiler first",
    "contrib.ndk": "a compiler for the device on the text of `lamina compile --emit ll`",
    "contrib.pipeline_executor": "one program for each part",
    "relay.testing.darknet": "relay.frontend.from_darknet(('net.cfg', 'net.weights'))",
    "relay.transform.AnnotateMemoryScope": "nothing: there is one kind of memory",
    "relay.transform.AutoSchedulerLayoutRewrite": "nothing: weights are packed for the schedules that run",
    "relay.transform.MetaScheduleLayoutRewrite": "nothing: weights are packed for the schedules that run",
    "relay.transform.ToCPS": "nothing: calls in tail position take no memory",
    "relay.transform.AnnotateSpans": "nothing: what is read from text has its places",
    "relay.transform.CollagePartition": "relay.transform.AnnotateTarget with the preferred compiler first",
    "relay.annotation.bitpack_start": "relay.annotation.compiler_begin",
    "relay.annotation.bitpack_end": "relay.annotation.compiler_end",
    "relay.annotation.with_funcid": "attributes of functions: Function.with_attr",
    "relay.meta_schedule_layout_transform": "relay.layout_transform",
    "relay.call_lowered": "a call of the function itself",
    "relay.dyn.sparse_to_dense": "relay.sparse_to_dense with a shape that is known",
    "relay.image.dilation2d": "relay.sliding_window, an addition and relay.max",
    "relay.memory": "lamina.transform.ManifestAlloc, which makes these ops",
    "relay.vm.invoke_tvm_op": "lamina.transform.ManifestAlloc, which makes this op",
    "relay.nn.bitpack": "relay.left_shift and relay.bitwise_or",
    "relay.nn.bitserial_conv2d": "relay.nn.conv2d on int8",
    "relay.nn.bitserial_dense": "relay.nn.dense on int8",
    "relay.nn.contrib_conv2d_winograd_nnpack_weight_transform": "relay.nn.contrib_conv2d_winograd_weight_transform",
    "relay.nn.contrib_conv3d_winograd_weight_transform": "relay.nn.conv3d",
    "relay.nn.contrib_conv3d_winograd_without_weight_transform": "relay.nn.conv3d",
    "relay.nn.internal.sparse_dense_padded": "relay.nn.sparse_dense",
    "relay.nn.sparse_add": "relay.sparse_to_dense and relay.add",
    "relay.nn.sparse_conv2d": "relay.nn.conv2d",
    "relay.nn.sparse_transpose": "relay.sparse_to_dense and relay.transpose",
    "relay.parser.MetaRef": "meta[relay.Constant][0] in a text with its metadata",
    "relay.random.multinomial": "relay.random.uniform, relay.cumsum and relay.searchsorted",
    "relay.sparse_fill_empty_rows": "the filling on the host, before the program",
    "relay.sparse_reshape": "relay.sparse_to_dense and relay.reshape",
    "relay.torch_op": "an op class in dialects/relay (CONTRIBUTING.md: add an op)",
    "relay.vision.proposal": "relay.vision.non_max_suppression on boxes of one's own",
    "relay.vision.yolo_reorg": "relay.nn.space_to_depth",
}
"""By TVM's name without `tvm.`: what is said after "use"."""


def missing(module: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for an attribute that a module of TVM's does not have here, given the names that it has."""
    if name.startswith("__"):
        return AttributeError(name)
    return not_bridged(f"{module.partition('compat.tvm.')[2]}.{name}", [k for k in known if not k.startswith("_")])


def not_bridged(name: str, known: list[str]) -> AttributeError:
    """The error for a name of TVM's that is not here: it says what to use instead where that is known."""
    last = name.rpartition(".")[2]
    instead = INSTEAD.get(name)
    if instead is not None:
        return AttributeError(f"tvm.{name} is not bridged; use {instead}")
    near = did_you_mean(last, known)
    return AttributeError(f"tvm.{name} is not bridged" + (f"; {near}" if near else "; see docs/reference/tvm-names.md"))
