// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions' | filecheck %s
// Readers of one value join its region, which has an end for each value that is needed outside.

// CHECK:      %[[X:[0-9]+]] = relay.annotation.compiler_begin %x {compiler = "dnnl"}
// CHECK-NEXT: %a = relay.exp %[[X]]
// CHECK-NEXT: %[[A:[a-z0-9_]+]] = relay.annotation.compiler_end %a {compiler = "dnnl"}
// CHECK-NEXT: %b = relay.abs %a
// CHECK-NEXT: %[[B:[a-z0-9_]+]] = relay.annotation.compiler_end %b {compiler = "dnnl"}
// CHECK-NEXT: %c = relay.tanh %a
// CHECK-NEXT: %[[C:[a-z0-9_]+]] = relay.annotation.compiler_end %c {compiler = "dnnl"}
// CHECK-NEXT: relay.annotation.compiler_begin %[[A]] {compiler = "default"}
// CHECK-NEXT: relay.erf
// CHECK-NEXT: %[[D:[a-z0-9_]+]] = relay.annotation.compiler_end
// CHECK-NEXT: func.return %[[B]], %[[C]], %[[D]]
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.abs %a : tensor<8xf32>
  %c = relay.tanh %a : tensor<8xf32>
  %d = relay.erf %a : tensor<8xf32>
  return %b, %c, %d : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
