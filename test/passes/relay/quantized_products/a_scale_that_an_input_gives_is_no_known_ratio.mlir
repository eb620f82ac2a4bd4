// RUN: opt-tool %s -p relay-quantized-products | filecheck %s
// Sums of a scale known only at run time: no ratio is small for certain, whichever of the two scales is the input.

func.func @sums_of_an_unknown_scale(%x: tensor<2x3xi32>, %s: tensor<f32>) -> tensor<2x3xi8> {
  %zero = relay.constant dense<0> : tensor<i32>
  %u = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.qnn.requantize %x, %s, %zero, %u, %zero {rounding = "TONEVEN", compute_dtype = "float32", out_dtype = "int8"} : (tensor<2x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
// CHECK-LABEL: @sums_of_an_unknown_scale
// CHECK-NOT:   relay.round
// CHECK:       relay.qnn.requantize

func.func @results_of_an_unknown_scale(%x: tensor<2x3xi32>, %u: tensor<f32>) -> tensor<2x3xi8> {
  %zero = relay.constant dense<0> : tensor<i32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %0 = relay.qnn.requantize %x, %s, %zero, %u, %zero {rounding = "TONEVEN", compute_dtype = "float32", out_dtype = "int8"} : (tensor<2x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
// CHECK-LABEL: @results_of_an_unknown_scale
// CHECK-NOT:   relay.round
// CHECK:       relay.qnn.requantize

func.func @both_are_known(%x: tensor<2x3xi32>) -> tensor<2x3xi8> {
  %zero = relay.constant dense<0> : tensor<i32>
  %s = relay.constant dense<0.5> : tensor<f32>
  %u = relay.constant dense<2.0> : tensor<f32>
  %0 = relay.qnn.requantize %x, %s, %zero, %u, %zero {rounding = "TONEVEN", compute_dtype = "float32", out_dtype = "int8"} : (tensor<2x3xi32>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<2x3xi8>
  return %0 : tensor<2x3xi8>
}
// CHECK-LABEL: @both_are_known
// CHECK-NOT:   requantize
// CHECK:       relay.round
