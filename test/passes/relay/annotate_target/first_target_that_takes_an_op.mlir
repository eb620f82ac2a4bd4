// RUN: opt-tool %s -p 'relay-annotate-target{targets=bnns,dnnl}' | filecheck %s
// bnns takes dense and is asked first; relu goes to dnnl, and what nobody takes to default.

// CHECK:      %[[X:[0-9]+]] = relay.annotation.compiler_begin %x {compiler = "bnns"}
// CHECK-NEXT: %[[W:[0-9]+]] = relay.annotation.compiler_begin %w {compiler = "bnns"}
// CHECK-NEXT: %d = relay.nn.dense %[[X]], %[[W]]
// CHECK-NEXT: %[[D:[a-z0-9_]+]] = relay.annotation.compiler_end %d {compiler = "bnns"}
// CHECK-NEXT: %[[B:[0-9]+]] = relay.annotation.compiler_begin %[[D]] {compiler = "dnnl"}
// CHECK-NEXT: %r = relay.nn.relu %[[B]]
// CHECK-NEXT: relay.annotation.compiler_end %r {compiler = "dnnl"}
// CHECK-NEXT: relay.annotation.compiler_begin {{.*}} {compiler = "default"}
// CHECK-NEXT: relay.erf
// CHECK-NEXT: %[[E:[a-z0-9_]+]] = relay.annotation.compiler_end {{.*}} {compiler = "default"}
// CHECK-NEXT: func.return %[[E]]
func.func @main(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>) -> tensor<2x8xf32> {
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %r = relay.nn.relu %d : tensor<2x8xf32>
  %e = relay.erf %r : tensor<2x8xf32>
  return %e : tensor<2x8xf32>
}
