// RUN: not opt-tool %s -p 'relay-infer-symbols{dims="n=1..6"}' 2>&1 | filecheck %s
// The width of the blocks is computed with as a number.

// CHECK: relay-infer-symbols: nn.sparse_dense counts with n == 6
func.func @main(%x: tensor<4x6xf32>, %d: tensor<7x2x?xf32, #relay.dims<_, _, n>>, %i: tensor<7xi32>, %p: tensor<5xi32>) -> tensor<4x8xf32> {
  %0 = relay.nn.sparse_dense %x, %d, %i, %p : (tensor<4x6xf32>, tensor<7x2x?xf32, #relay.dims<_, _, n>>, tensor<7xi32>, tensor<5xi32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
