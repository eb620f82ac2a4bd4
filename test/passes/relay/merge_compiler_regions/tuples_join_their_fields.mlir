// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions' | filecheck %s
// %t and what is taken from it are inside; the fields of %u come from two regions, and it joins the one that it may.

// CHECK:      %a = relay.exp
// CHECK:      %b = relay.abs
// CHECK-NEXT: %[[B:[a-z0-9_]+]] = relay.annotation.compiler_end %b {compiler = "dnnl"}
// CHECK-NEXT: %t = relay.tuple(%a, %b)
// CHECK-NEXT: %c = relay.tuple_get_item %t[0]
// CHECK-NEXT: %[[C:[a-z0-9_]+]] = relay.annotation.compiler_end %c {compiler = "dnnl"}
// CHECK-NEXT: relay.annotation.compiler_begin %[[C]] {compiler = "default"}
// CHECK:      %e = relay.nn.relu
// CHECK-NEXT: %[[F:[0-9]+]] = relay.annotation.compiler_begin %[[B]] {compiler = "dnnl"}
// CHECK-NEXT: %u = relay.tuple(%[[F]], %e)
func.func @main(%x: tensor<8xf32>) -> tuple<tensor<8xf32>, tensor<8xf32>> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.abs %x : tensor<8xf32>
  %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<8xf32>>
  %c = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<8xf32>>
  %d = relay.erf %c : tensor<8xf32>
  %e = relay.nn.relu %d : tensor<8xf32>
  %u = relay.tuple(%b, %e) : tuple<tensor<8xf32>, tensor<8xf32>>
  return %u : tuple<tensor<8xf32>, tensor<8xf32>>
}
