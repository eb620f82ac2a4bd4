// RUN: opt-tool %S/inputs/tflite_image.mlir --run @main --output %t.npz
// RUN: opt-tool %S/inputs/tflite_convolution.mlir --run @main --input %t.npz | filecheck %s
// RUN: opt-tool %S/inputs/tflite_convolution.mlir -p relay-qnn-canonicalize --run @main --input %t.npz | filecheck %s
// RUN: opt-tool %S/inputs/tflite_convolution.mlir -p 'relay-qnn-canonicalize,relay-simplify-expr,relay-fuse-ops{fuse-opt-level=0},relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-expand-math,tir-fuse-multiply-add,tir-plan-memory,tir-to-llvm' --run @main --input %t.npz | filecheck %s
// RUN: opt-tool %S/inputs/tflite_convolution.mlir -p 'relay-qnn-canonicalize,relay-fold-constant,relay-simplify-expr,relay-canonicalize-ops,relay-fold-constant,relay-convert-layout,relay-simplify-expr,relay-fuse-ops,relay-to-te,cpu-schedule,te-to-tir,tir-lower-blocks,tir-simplify,tir-vectorize-loop,tir-expand-math,tir-fuse-multiply-add,tir-plan-memory,tir-to-llvm' --run @main --input %t.npz | filecheck %s
// quantize, pad, conv2d, bias_add, requantize as a TFLite model has them: by the oracles, written by plain ops, and as
// machine code of two levels of optimisation. All give what the definition gives, bit for bit; the sum of all results
// shows that they are the same everywhere, and no zeros.

// CHECK:      difference: int64[]
// CHECK-NEXT: 0
// CHECK-NEXT: total: int64[]
// CHECK-NEXT: 391001
