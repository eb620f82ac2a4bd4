// RUN: opt-tool %S/inputs/pytorch.mlir -p relay-fake-quantization-to-integer,relay-eliminate-common-subexpr > %t.pytorch
// RUN: opt-tool %S/inputs/tflite.mlir -p relay-fake-quantization-to-integer,relay-eliminate-common-subexpr > %t.tflite
// RUN: diff %t.pytorch %t.tflite
// RUN: filecheck %s --input-file %t.pytorch
// PyTorch's form of a quantised convolution (float weights, quantize and dequantize around them, padding in the
// convolution) and TFLite's (integer weights, padding with the zero point before) are the same quantised program.

// CHECK:      [[Q:%[0-9]+]] = relay.qnn.quantize %image, [[SX:%[0-9]+]], [[ZX:%[0-9]+]] {axis = 1, out_dtype = "uint8"}
// CHECK:      [[W:%[0-9]+]] = relay.constant dense<{{.*}}-93, -95, 76{{.*}} : tensor<4x2x3x3xi8>
// CHECK:      [[C:%[0-9]+]] = relay.qnn.conv2d [[Q]], [[W]], [[ZX]], [[Z:%[0-9]+]], [[SX]], {{%[0-9]+}} {{.*}}padding = [1, 1, 1, 1]}
// CHECK:      [[B:%[0-9]+]] = relay.constant dense<[120, -75, 0, 3000]> : tensor<4xi32>
// CHECK-NEXT: [[D:%[0-9]+]] = relay.nn.bias_add [[C]], [[B]]
// CHECK:      [[S:%[0-9]+]] = relay.constant dense<1.000000e-04>
// CHECK:      relay.qnn.requantize [[D]], [[S]], [[Z]],
