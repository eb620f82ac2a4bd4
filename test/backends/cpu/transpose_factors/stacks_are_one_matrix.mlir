// RUN: opt-tool %s -p cpu-transpose-factors | filecheck %s
// Eight matrices of one row, the fewest that are worth it, and a stack of stacks. Seven are not.

// CHECK-LABEL: func.func @few_rows_each
// CHECK:       relay.reshape %x {newshape = [8, 16]}
// CHECK:       relay.nn.matmul %{{.*}} : (tensor<8x16xf32>, tensor<16x5xf32>) -> tensor<8x5xf32>
// CHECK:       relay.reshape %{{.*}} {newshape = [8, 1, 5]}
func.func @few_rows_each(%x: tensor<8x1x16xf32>, %w: tensor<5x16xf32>) -> tensor<8x1x5xf32> {
  %y = relay.nn.dense %x, %w : (tensor<8x1x16xf32>, tensor<5x16xf32>) -> tensor<8x1x5xf32>
  return %y : tensor<8x1x5xf32>
}

// CHECK-LABEL: func.func @stacks
// CHECK:       relay.nn.matmul %{{.*}} : (tensor<48x16xf32>, tensor<16x5xf32>) -> tensor<48x5xf32>
func.func @stacks(%x: tensor<2x3x8x16xf32>, %w: tensor<5x16xf32>) -> tensor<2x3x8x5xf32> {
  %y = relay.nn.dense %x, %w : (tensor<2x3x8x16xf32>, tensor<5x16xf32>) -> tensor<2x3x8x5xf32>
  return %y : tensor<2x3x8x5xf32>
}

// CHECK-LABEL: func.func @too_few
// CHECK-NEXT:  relay.nn.dense
func.func @too_few(%x: tensor<7x1x16xf32>, %w: tensor<5x16xf32>) -> tensor<7x1x5xf32> {
  %y = relay.nn.dense %x, %w : (tensor<7x1x16xf32>, tensor<5x16xf32>) -> tensor<7x1x5xf32>
  return %y : tensor<7x1x5xf32>
}
