// RUN: opt-tool %s -p "relay-vmap{size=8}" | filecheck %s
// Tensors of fewer axes are broadcast from the right: axes of one element keep the new axis in front.

// CHECK:      func.func @main(%x: tensor<8x2x3xf32>, %w: tensor<8x3xf32>)
// CHECK-NEXT:   %0 = relay.reshape %w {allowzero = true, newshape = [8, 1, 3]}
// CHECK-NEXT:   %y = relay.add %x, %0 : (tensor<8x2x3xf32>, tensor<8x1x3xf32>) -> tensor<8x2x3xf32>
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3xf32>) -> tensor<2x3xf32> {
  %y = relay.add %x, %w : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}
