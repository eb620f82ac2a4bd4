// RUN: opt-tool %s -p cpu-transpose-factors | filecheck %s
// Nine matrices of one row, and a stack of stacks.

// CHECK-LABEL: func.func @few_rows_each
// CHECK:       relay.reshape %x {newshape = [9, 16]}
// CHECK:       relay.nn.matmul %{{.*}} : (tensor<9x16xf32>, tensor<16x5xf32>) -> tensor<9x5xf32>
// CHECK:       relay.reshape %{{.*}} {newshape = [9, 1, 5]}
func.func @few_rows_each(%x: tensor<9x1x16xf32>, %w: tensor<5x16xf32>) -> tensor<9x1x5xf32> {
  %y = relay.nn.dense %x, %w : (tensor<9x1x16xf32>, tensor<5x16xf32>) -> tensor<9x1x5xf32>
  return %y : tensor<9x1x5xf32>
}

// CHECK-LABEL: func.func @stacks
// CHECK:       relay.nn.matmul %{{.*}} : (tensor<48x16xf32>, tensor<16x5xf32>) -> tensor<48x5xf32>
func.func @stacks(%x: tensor<2x3x8x16xf32>, %w: tensor<5x16xf32>) -> tensor<2x3x8x5xf32> {
  %y = relay.nn.dense %x, %w : (tensor<2x3x8x16xf32>, tensor<5x16xf32>) -> tensor<2x3x8x5xf32>
  return %y : tensor<2x3x8x5xf32>
}
