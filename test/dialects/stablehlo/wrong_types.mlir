// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x3xf32>, %y: tensor<2x4xf32>) {
  // expected-error@+1 {{takes operands of one type, got tensor<2x3xf32> and tensor<2x4xf32>}}
  %0 = "stablehlo.add"(%x, %y) : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{dims = [0, 0] is no order of 2 dimensions}}
  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>, %w: tensor<4x5xf32>) {
  // expected-error@+1 {{the two sides have different extents in a role}}
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{result type tensor<2x2xf32> differs from the inferred tensor<2x1xf32>}}
  %0 = stablehlo.slice %x [0:2, 1:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{expected one of EQ, NE, GE, GT, LE, LT}}
  %0 = stablehlo.compare SMALLER, %x, %x : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  return
}
// -----
func.func @f(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{unknown operation 'stablehlo.ad'; did you mean}}
  %0 = stablehlo.ad %x, %x : tensor<2x3xf32>
  return
}
