// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// Only the first field of %t is taken: what the second one is made of goes, and no function without results is left.

// CHECK:      func.func @main
// CHECK-NEXT:   %d = func.call @tvmgen_default_dnnl_main_0(%x)
// CHECK-NEXT:   func.return %d
// CHECK:      func.func @tvmgen_default_dnnl_main_0
// CHECK-NEXT:   %a = relay.exp
// CHECK-NEXT:   %d = relay.nn.relu %a
// CHECK-NEXT:   func.return %d
// CHECK-NOT:  func.func
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %e = relay.tanh %x : tensor<8xf32>
  %b = relay.abs %e : tensor<8xf32>
  %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<8xf32>>
  %c = relay.tuple_get_item %t[0] : tuple<tensor<8xf32>, tensor<8xf32>>
  %d = relay.nn.relu %c : tensor<8xf32>
  return %d : tensor<8xf32>
}
