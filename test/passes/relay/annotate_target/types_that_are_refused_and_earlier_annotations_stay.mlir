// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl}' | filecheck %s
// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-annotate-target{targets=dnnl}' | filecheck %s
// RUN: opt-tool %s -p 'relay-annotate-target{targets=bnns},relay-annotate-target{targets=dnnl}' | filecheck %s
// dnnl refuses f64. What is default is asked again, what belongs to someone is not.

// CHECK:      relay.annotation.compiler_begin %x {compiler = "default"}
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.annotation.compiler_end {{.*}} {compiler = "default"}
// CHECK-NEXT: relay.annotation.compiler_begin %y {compiler = "dnnl"}
// CHECK-NEXT: relay.nn.relu
// CHECK-NEXT: relay.annotation.compiler_end {{.*}} {compiler = "dnnl"}
// CHECK-NEXT: func.return
func.func @main(%x: tensor<4xf64>, %y: tensor<4xf32>) -> (tensor<4xf64>, tensor<4xf32>) {
  %a = relay.nn.relu %x : tensor<4xf64>
  %b = relay.nn.relu %y : tensor<4xf32>
  return %a, %b : tensor<4xf64>, tensor<4xf32>
}
