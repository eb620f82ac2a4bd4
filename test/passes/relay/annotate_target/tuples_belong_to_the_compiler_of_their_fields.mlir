// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl}' | filecheck %s
// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-annotate-target{targets=dnnl}' | filecheck %s
// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl include-non-call-ops=false}' | filecheck %s --check-prefix CALLS
// Both fields of %t come from dnnl, so it and what is taken from it are dnnl's; one field of %u is an input.

// CHECK:      %[[A:[a-z0-9_]+]] = relay.annotation.compiler_end %a {compiler = "dnnl"}
// CHECK:      %[[B:[a-z0-9_]+]] = relay.annotation.compiler_end %b {compiler = "dnnl"}
// CHECK-NEXT: %[[F:[0-9]+]] = relay.annotation.compiler_begin %[[A]] {compiler = "dnnl"}
// CHECK-NEXT: %[[G:[0-9]+]] = relay.annotation.compiler_begin %[[B]] {compiler = "dnnl"}
// CHECK-NEXT: %t = relay.tuple(%[[F]], %[[G]])
// CHECK-NEXT: %c = relay.tuple_get_item %t[1]
// CHECK-NEXT: %[[C:[a-z0-9_]+]] = relay.annotation.compiler_end %c {compiler = "dnnl"}
// CHECK-NEXT: relay.annotation.compiler_begin %[[C]] {compiler = "dnnl"}
// CHECK-NEXT: %d = relay.nn.relu
// CHECK:      %u = relay.tuple(%x, %[[A]])
// CHECK-NEXT: %e = relay.tuple_get_item %u[1]
// CHECK-NEXT: func.return

// CALLS:      %[[A:[a-z0-9_]+]] = relay.annotation.compiler_end %a {compiler = "dnnl"}
// CALLS:      %[[B:[a-z0-9_]+]] = relay.annotation.compiler_end %b {compiler = "dnnl"}
// CALLS-NEXT: %t = relay.tuple(%[[A]], %[[B]])
// CALLS-NEXT: %c = relay.tuple_get_item %t[1]
// CALLS-NEXT: relay.annotation.compiler_begin %c {compiler = "dnnl"}
// CALLS-NEXT: %d = relay.nn.relu
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.abs %x : tensor<8xf32>
  %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<8xf32>>
  %c = relay.tuple_get_item %t[1] : tuple<tensor<8xf32>, tensor<8xf32>>
  %d = relay.nn.relu %c : tensor<8xf32>
  %u = relay.tuple(%x, %a) : tuple<tensor<8xf32>, tensor<8xf32>>
  %e = relay.tuple_get_item %u[1] : tuple<tensor<8xf32>, tensor<8xf32>>
  return %d, %e : tensor<8xf32>, tensor<8xf32>
}
