// RUN: opt-tool %s -p 'relay-merge-composite{patterns=ethos-n},relay-annotate-target{targets=ethos-n},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// A TFLite convolution: padding, convolution, bias and requantisation are one composite with its constants inside.
// quantize in front of it stays.

// CHECK:      func.func @main
// CHECK:        relay.qnn.quantize %image
// CHECK-NEXT:   func.call @tvmgen_default_ethos_n_main_0
// CHECK-NEXT:   func.return
// CHECK:      func.func @tvmgen_default_ethos_n_main_0(%ethos_n_0_i0: tensor<1x3x6x6xui8>)
// CHECK-NEXT:   relay.fn (%FunctionVar: tensor<1x3x6x6xui8>) -> tensor<1x4x8x8xui8>
// CHECK-SAME:     Composite = "ethos-n.qnn_conv2d", PartitionedFromPattern = "nn.pad_qnn.conv2d_nn.bias_add_qnn.requantize_"
// CHECK-COUNT-8:  relay.constant
// CHECK-NEXT:     relay.nn.pad %FunctionVar
// CHECK-NEXT:     relay.qnn.conv2d
// CHECK-NEXT:     relay.nn.bias_add
// CHECK-NEXT:     relay.qnn.requantize
// CHECK-NEXT:     relay.return
func.func @main(%image: tensor<1x3x6x6xf32>) -> tensor<1x4x8x8xui8> {
  %weight = relay.constant #relay.param<"w", "9f86d081884c7d65"> : tensor<4x3x1x1xi8>
  %bias = relay.constant dense<[1, 2, 3, 4]> : tensor<4xi32>
  %s0 = relay.constant dense<0.02> : tensor<f32>
  %z0 = relay.constant dense<114> : tensor<i32>
  %s1 = relay.constant dense<0.003> : tensor<f32>
  %zero = relay.constant dense<0> : tensor<i32>
  %s2 = relay.constant dense<6.0e-05> : tensor<f32>
  %s3 = relay.constant dense<0.015> : tensor<f32>
  %0 = relay.qnn.quantize %image, %s0, %z0 {out_dtype = "uint8", axis = 1} : (tensor<1x3x6x6xf32>, tensor<f32>, tensor<i32>) -> tensor<1x3x6x6xui8>
  %1 = relay.nn.pad %0 {pad_value = 114.0, pad_width = [0, 0, 0, 0, 1, 1, 1, 1]} : (tensor<1x3x6x6xui8>) -> tensor<1x3x8x8xui8>
  %2 = relay.qnn.conv2d %1, %weight, %z0, %zero, %s0, %s1 {channels = 4, kernel_size = [1, 1], padding = [0, 0, 0, 0], out_dtype = "int32"} : (tensor<1x3x8x8xui8>, tensor<4x3x1x1xi8>, tensor<i32>, tensor<i32>, tensor<f32>, tensor<f32>) -> tensor<1x4x8x8xi32>
  %3 = relay.nn.bias_add %2, %bias : (tensor<1x4x8x8xi32>, tensor<4xi32>) -> tensor<1x4x8x8xi32>
  %4 = relay.qnn.requantize %3, %s2, %zero, %s3, %zero {axis = 1, out_dtype = "uint8"} : (tensor<1x4x8x8xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<1x4x8x8xui8>
  return %4 : tensor<1x4x8x8xui8>
}
