// RUN: opt-tool %s -p relay-qnn-canonicalize | filecheck %s
// The product with a multiplier of 31 bits is rounded, then the shift. Nothing is wider than 32 bits.

// CHECK-LABEL: @by_channel
// CHECK:       %[[M:.*]] = relay.constant dense<[1374389565, 1099511652]> : tensor<2xi32>
// CHECK-NEXT:  %[[H:.*]] = relay.rounding_doubling_high_multiply %x, %[[M]]
// CHECK-NEXT:  %[[S:.*]] = relay.constant dense<[7, 6]> : tensor<2xi32>
// CHECK-NEXT:  %[[R:.*]] = relay.rounding_right_shift %[[H]], %[[S]]
// CHECK:       relay.add %[[R]]
// CHECK-NEXT:  relay.clip
// CHECK-NEXT:  relay.cast
// CHECK-NOT:   i64
func.func @by_channel(%x: tensor<3x2xi32>) -> tensor<3x2xi8> {
  %s = relay.constant dense<[0.0001, 0.00016]> : tensor<2xf64>
  %z = relay.constant dense<0> : tensor<i32>
  %t = relay.constant dense<0.02> : tensor<f32>
  %v = relay.constant dense<-11> : tensor<i32>
  %y = relay.qnn.requantize %x, %s, %z, %t, %v {axis = 1, rounding = "TFLITE", out_dtype = "int8"} : (tensor<3x2xi32>, tensor<2xf64>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<3x2xi8>
  return %y : tensor<3x2xi8>
}

// A ratio above one shifts to the left, before the product; bytes leave room for that in 32 bits.
// CHECK-LABEL: @larger_scale
// CHECK:       %[[C:.*]] = relay.subtract
// CHECK:       %[[L:.*]] = relay.left_shift %[[C]]
// CHECK:       relay.rounding_doubling_high_multiply %[[L]]
// CHECK-NEXT:  relay.add
// CHECK-NOT:   i64
func.func @larger_scale(%x: tensor<3x2xi8>) -> tensor<3x2xi8> {
  %s = relay.constant dense<0.03> : tensor<f32>
  %z = relay.constant dense<5> : tensor<i32>
  %t = relay.constant dense<0.02> : tensor<f32>
  %v = relay.constant dense<-11> : tensor<i32>
  %y = relay.qnn.requantize %x, %s, %z, %t, %v {rounding = "TFLITE", out_dtype = "int8"} : (tensor<3x2xi8>, tensor<f32>, tensor<i32>, tensor<f32>, tensor<i32>) -> tensor<3x2xi8>
  return %y : tensor<3x2xi8>
}
