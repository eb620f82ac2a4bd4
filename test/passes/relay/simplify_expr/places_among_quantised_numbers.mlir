// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s
// The scale of the second may be negative.

// CHECK:      %a = relay.argmax %x {axis = [1]}
// CHECK:      %q = relay.qnn.dequantize %x, %v
// CHECK-NEXT: %b = relay.argmax %q {axis = [1]}
func.func @main(%x: tensor<2x8xi8>, %v: tensor<f32>) -> (tensor<2xi32>, tensor<2xi32>) {
  %s = relay.constant dense<0.5> : tensor<f32>
  %z = relay.constant dense<3> : tensor<i32>
  %p = relay.qnn.dequantize %x, %s, %z : (tensor<2x8xi8>, tensor<f32>, tensor<i32>) -> tensor<2x8xf32>
  %a = relay.argmax %p {axis = [1]} : (tensor<2x8xf32>) -> tensor<2xi32>
  %q = relay.qnn.dequantize %x, %v, %z : (tensor<2x8xi8>, tensor<f32>, tensor<i32>) -> tensor<2x8xf32>
  %b = relay.argmax %q {axis = [1]} : (tensor<2x8xf32>) -> tensor<2xi32>
  return %a, %b : tensor<2xi32>, tensor<2xi32>
}
