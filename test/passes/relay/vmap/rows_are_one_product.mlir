// RUN: opt-tool %s -p "relay-vmap{size=8 arguments=0}" | filecheck %s
// RUN: opt-tool %s -p "relay-vmap{size=8 arguments=1}" | filecheck %s --check-prefix=WEIGHTS
// With the same weights for all there are more rows; with weights of their own there are many products.

// CHECK:      relay.reshape %x {allowzero = true, newshape = [32, 16]}
// CHECK-NEXT: relay.nn.dense %{{.*}}, %w {units = 5} : (tensor<32x16xf32>, tensor<5x16xf32>) -> tensor<32x5xf32>
// CHECK-NEXT: relay.reshape %{{.*}} {allowzero = true, newshape = [8, 4, 5]}
// CHECK-NOT:  batch_matmul

// WEIGHTS: relay.nn.batch_matmul %{{.*}}, %w : (tensor<8x4x16xf32>, tensor<8x5x16xf32>) -> tensor<8x4x5xf32>
func.func @main(%x: tensor<4x16xf32>, %w: tensor<5x16xf32>) -> tensor<4x5xf32> {
  %y = relay.nn.dense %x, %w {units = 5} : (tensor<4x16xf32>, tensor<5x16xf32>) -> tensor<4x5xf32>
  return %y : tensor<4x5xf32>
}
