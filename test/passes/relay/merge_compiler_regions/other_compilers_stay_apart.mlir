// RUN: opt-tool %s -p 'relay-annotate-target{targets=bnns,dnnl},relay-merge-compiler-regions' | filecheck %s
// Neighbours of two compilers keep the border between them; between default ops there is none.

// CHECK:      relay.nn.dense
// CHECK-NEXT: relay.annotation.compiler_end %d {compiler = "bnns"}
// CHECK-NEXT: relay.annotation.compiler_begin {{.*}} {compiler = "dnnl"}
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.annotation.compiler_end %r {compiler = "dnnl"}
// CHECK-NEXT: relay.annotation.compiler_begin {{.*}} {compiler = "default"}
// CHECK-NEXT: %e = relay.erf
// CHECK-NEXT: %g = relay.erf %e
func.func @main(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>) -> tensor<2x8xf32> {
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %r = relay.nn.relu %d : tensor<2x8xf32>
  %e = relay.erf %r : tensor<2x8xf32>
  %g = relay.erf %e : tensor<2x8xf32>
  return %g : tensor<2x8xf32>
}
