// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Reductions, loops, and ops in MLIR's generic form.

func.func @main(%x: tensor<2x3xf32>, %n: tensor<i32>, %zero: tensor<f32>, %i: tensor<4x1xi32>) {
  // CHECK: %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
  // CHECK-NEXT: %a, %b = stablehlo.reduce(%x init: %zero), (%x init: %zero) across dimensions = [0] : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>) reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
  %a, %b = stablehlo.reduce(%x init: %zero), (%x init: %zero) across dimensions = [0] : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> (tensor<3xf32>, tensor<3xf32>)
   reducer(%p: tensor<f32>, %q: tensor<f32>) (%r: tensor<f32>, %s: tensor<f32>) {
    // CHECK-NEXT: %0 = stablehlo.add %p, %q : tensor<f32>
    %0 = stablehlo.add %p, %q : tensor<f32>
    // CHECK-NEXT: %1 = stablehlo.multiply %r, %s : tensor<f32>
    %1 = stablehlo.multiply %r, %s : tensor<f32>
    // CHECK-NEXT: stablehlo.return %0, %1 : tensor<f32>, tensor<f32>
    stablehlo.return %0, %1 : tensor<f32>, tensor<f32>
  }
  // CHECK: %w0, %w1 = stablehlo.while(%iterArg = %n, %iterArg_1 = %x) : tensor<i32>, tensor<2x3xf32> cond {
  %w0, %w1 = stablehlo.while(%iterArg = %n, %iterArg_1 = %x) : tensor<i32>, tensor<2x3xf32>
  cond {
    // CHECK-NEXT: stablehlo.compare LT, %iterArg, %n, SIGNED
    %2 = stablehlo.compare LT, %iterArg, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  // CHECK: } do {
  } do {
    // CHECK-NEXT: stablehlo.add %iterArg_1, %x : tensor<2x3xf32>
    %3 = stablehlo.add %iterArg_1, %x : tensor<2x3xf32>
    stablehlo.return %iterArg, %3 : tensor<i32>, tensor<2x3xf32>
  }
  // CHECK: "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}>
  %g = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<4x1xi32>) -> tensor<4x3xf32>
  return
}
