// RUN: opt-tool %s -p relay-fold-constant | filecheck %s
// What enters a region of an external compiler is marked, constants too; an op on constants inside of it is not folded.

// CHECK:      %c = relay.constant dense<2.000000e+00> : tensor<f32>
// CHECK-NEXT: %b = relay.annotation.compiler_begin %c {compiler = "dnnl"} : tensor<f32>
// CHECK-NEXT: %e = relay.exp %b : tensor<f32>
// CHECK-NEXT: %r = relay.annotation.compiler_end %e {compiler = "dnnl"} : tensor<f32>
func.func @main() -> tensor<f32> {
  %c = relay.constant dense<2.000000e+00> : tensor<f32>
  %b = relay.annotation.compiler_begin %c {compiler = "dnnl"} : tensor<f32>
  %e = relay.exp %b : tensor<f32>
  %r = relay.annotation.compiler_end %e {compiler = "dnnl"} : tensor<f32>
  return %r : tensor<f32>
}
