// RUN: opt-tool %s -p "relay-vmap{size=8 arguments=0}" | filecheck %s
// An op of arguments without the axis stays; a result of it is the same at each place.

// CHECK:      func.func @main(%x: tensor<8x3xf32>, %w: tensor<3xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
// CHECK-NEXT:   %a = relay.exp %w : tensor<3xf32>
// CHECK-NEXT:   %b = relay.add %x, %a : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
// CHECK-NEXT:   %0 = relay.reshape %a {allowzero = true, newshape = [1, 3]}
// CHECK-NEXT:   %1 = relay.broadcast_to %0 {shape = [8, 3]}
// CHECK-NEXT:   func.return %b, %1
func.func @main(%x: tensor<3xf32>, %w: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
  %a = relay.exp %w : tensor<3xf32>
  %b = relay.add %x, %a : tensor<3xf32>
  return %b, %a : tensor<3xf32>, tensor<3xf32>
}
