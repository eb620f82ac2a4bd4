// RUN: opt-tool %s -p "relay-vmap{size=8}" | filecheck %s
// RUN: opt-tool %s -p "relay-vmap{size=8 arguments=0}" | filecheck %s --check-prefix=FIRST
// An axis in front of both arguments, and of the first alone; the sum's axis is one further back.

// CHECK:      func.func @main(%x: tensor<8x3xf32>, %w: tensor<8x3xf32>) -> tensor<8xf32> {
// CHECK-NEXT:   %y = relay.multiply %x, %w : tensor<8x3xf32>
// CHECK-NEXT:   %z = relay.sum %y {axis = [1]} : (tensor<8x3xf32>) -> tensor<8xf32>
// CHECK-NEXT:   func.return %z : tensor<8xf32>

// FIRST:      func.func @main(%x: tensor<8x3xf32>, %w: tensor<3xf32>) -> tensor<8xf32> {
// FIRST-NEXT:   %y = relay.multiply %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
// FIRST-NEXT:   %z = relay.sum %y {axis = [1]}
func.func @main(%x: tensor<3xf32>, %w: tensor<3xf32>) -> tensor<f32> {
  %y = relay.multiply %x, %w : tensor<3xf32>
  %z = relay.sum %y {axis = [0]} : (tensor<3xf32>) -> tensor<f32>
  return %z : tensor<f32>
}
