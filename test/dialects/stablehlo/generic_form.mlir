// RUN: opt-tool %s | filecheck %s
// Whatever has a form of its own is read in the generic one, too.

// CHECK: stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
// CHECK: stablehlo.compare GE, %x, %x, FLOAT
// CHECK: stablehlo.convolution(%i, %k) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {stride = [2]{{.*}}} {feature_group_count = 1 : i64}
func.func @main(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>, %i: tensor<1x5x2xf32>, %k: tensor<3x2x4xf32>) {
  %0 = "stablehlo.dot_general"(%x, %w) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>}> : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  %1 = "stablehlo.compare"(%x, %x) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %2 = "stablehlo.convolution"(%i, %k) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, window_strides = array<i64: 2>, feature_group_count = 1 : i64}> : (tensor<1x5x2xf32>, tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
  return
}
