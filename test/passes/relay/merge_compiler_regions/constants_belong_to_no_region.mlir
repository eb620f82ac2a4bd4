// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions' | filecheck %s
// A constant that two compilers read joins nothing: it is an input of each op, and no way from one to the other.

// CHECK:      %k = relay.constant
// CHECK:      %a = relay.multiply
// CHECK-NEXT: %[[K:[0-9]+]] = relay.annotation.compiler_begin %k {compiler = "dnnl"}
// CHECK-NEXT: %b = relay.add %a, %[[K]]
// CHECK-NEXT: relay.annotation.compiler_begin %k {compiler = "default"}
// CHECK-NEXT: relay.erf
// CHECK-NEXT: %[[C:[a-z0-9_]+]] = relay.annotation.compiler_end {{.*}} {compiler = "default"}
// CHECK-NEXT: %[[D:[0-9]+]] = relay.annotation.compiler_begin %[[C]] {compiler = "dnnl"}
// CHECK-NEXT: %d = relay.add %b, %[[D]]
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %k = relay.constant dense<2.0> : tensor<8xf32>
  %a = relay.multiply %x, %k : tensor<8xf32>
  %b = relay.add %a, %k : tensor<8xf32>
  %c = relay.erf %k : tensor<8xf32>
  %d = relay.add %b, %c : tensor<8xf32>
  return %d : tensor<8xf32>
}
