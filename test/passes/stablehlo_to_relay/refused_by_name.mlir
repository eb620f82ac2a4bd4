// RUN: not opt-tool %s -p stablehlo-to-relay 2>&1 | filecheck %s

// CHECK: error: stablehlo.custom_call @lapack_spotrf_ffi (2x, @lapack_spotrf_ffi is a function of XLA's library); stablehlo.rng (1x, its numbers depend on the machine; {{.*}}) are not supported; `lamina check` lists the places
func.func @main(%x: tensor<4x4xf32>, %n: tensor<1xi64>, %low: tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>) {
  %a = stablehlo.custom_call @lapack_spotrf_ffi(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = stablehlo.custom_call @lapack_spotrf_ffi(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = stablehlo.rng %low, %low, %n, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4xf32>
}
