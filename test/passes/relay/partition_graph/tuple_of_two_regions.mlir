// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// A tuple whose fields two functions give is made behind the later call.

// CHECK:      %a, %b = func.call @tvmgen_default_dnnl_main_0(%x)
// CHECK-NEXT: %d = relay.erf %a
// CHECK-NEXT: %e = func.call @tvmgen_default_dnnl_main_1(%d)
// CHECK-NEXT: %u = relay.tuple(%b, %e)
// CHECK-NEXT: func.return %u
// CHECK-NOT:  relay.tuple
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
