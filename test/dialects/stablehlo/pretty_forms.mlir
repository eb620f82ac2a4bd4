// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// Ops are printed as JAX prints them.

func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %n: tensor<i32>, %c: tensor<2x3xi1>, %s: tensor<f32>) {
  // CHECK: %add = stablehlo.add %x, %y : tensor<2x3xf32>
  %add = stablehlo.add %x, %y : tensor<2x3xf32>
  // CHECK-NEXT: %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %cst = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK-NEXT: stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %fin = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  %con = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xi32>
  // CHECK-NEXT: stablehlo.convert %x : tensor<2x3xf32>
  %same = stablehlo.convert %x : tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.select %c, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  %sel = stablehlo.select %c, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %cla = stablehlo.clamp %s, %x, %s : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %com = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: stablehlo.compare EQ, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  %equ = stablehlo.compare EQ, %x, %y : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK-NEXT: stablehlo.iota dim = 0 : tensor<4x2xi32>
  %iot = stablehlo.iota dim = 0 : tensor<4x2xi32>
  // CHECK-NEXT: stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %bro = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %tra = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  // CHECK-NEXT: stablehlo.reverse %x, dims = [0] : tensor<2x3xf32>
  %rev = stablehlo.reverse %x, dims = [0] : tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  %sli = stablehlo.slice %x [0:2, 0:3:2] : (tensor<2x3xf32>) -> tensor<2x2xf32>
  // CHECK-NEXT: stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  %cat = stablehlo.concatenate %x, %y, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  // CHECK-NEXT: stablehlo.pad %x, %s, low = [0, 1], high = [-1, 0], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  %pad = stablehlo.pad %x, %s, low = [0, 1], high = [-1, 0], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  // CHECK-NEXT: stablehlo.dynamic_slice %x, %n, %n, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  %dyn = stablehlo.dynamic_slice %x, %n, %n, sizes = [1, 2] : (tensor<2x3xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
  // CHECK-NEXT: stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  %dot = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [1] x [1], precision = [DEFAULT, HIGHEST] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2xf32>
  // CHECK-NEXT: stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>
  %pre = stablehlo.reduce_precision %x, format = e5m10 : tensor<2x3xf32>
  // CHECK-NEXT: stablehlo.optimization_barrier %x, %s : tensor<2x3xf32>, tensor<f32>
  %bar0, %bar1 = stablehlo.optimization_barrier %x, %s : tensor<2x3xf32>, tensor<f32>
  // CHECK-NEXT: stablehlo.custom_call @there(%x) {backend_config = "", api_version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %cus = stablehlo.custom_call @there(%x) {backend_config = "", api_version = 2 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // CHECK-NEXT: chlo.erf %x : tensor<2x3xf32> -> tensor<2x3xf32>
  %erf = chlo.erf %x : tensor<2x3xf32> -> tensor<2x3xf32>
  // CHECK-NEXT: chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  %top0, %top1 = chlo.top_k(%x, k = 2) : tensor<2x3xf32> -> (tensor<2x2xf32>, tensor<2x2xi32>)
  return
}
