// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl include-non-call-ops=false},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s --check-prefix CALLS
// A tuple between two ops of dnnl is no border: what is taken from it is the field. The one that is returned is made
// of the function's results.

// CHECK:      func.func @main
// CHECK-NEXT:   %a, %b, %d = func.call @tvmgen_default_dnnl_main_0(%x)
// CHECK-NEXT:   %t = relay.tuple(%a, %b)
// CHECK-NEXT:   func.return %t, %d
// CHECK:      func.func @tvmgen_default_dnnl_main_0
// CHECK-NEXT:   %a = relay.exp
// CHECK-NEXT:   %b = relay.abs
// CHECK-NEXT:   %d = relay.nn.relu %b
// CHECK-NEXT:   func.return %a, %b, %d

// CALLS:      %a = func.call @tvmgen_default_dnnl_main_0(%x)
// CALLS-NEXT: %b = func.call @tvmgen_default_dnnl_main_1(%x)
// CALLS-NEXT: %t = relay.tuple(%a, %b)
// CALLS-NEXT: %c = relay.tuple_get_item %t[1]
// CALLS-NEXT: %d = func.call @tvmgen_default_dnnl_main_2(%c)
func.func @main(%x: tensor<8xf32>) -> (tuple<tensor<8xf32>, tensor<8xf32>>, tensor<8xf32>) {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.abs %x : tensor<8xf32>
  %t = relay.tuple(%a, %b) : tuple<tensor<8xf32>, tensor<8xf32>>
  %c = relay.tuple_get_item %t[1] : tuple<tensor<8xf32>, tensor<8xf32>>
  %d = relay.nn.relu %c : tensor<8xf32>
  return %t, %d : tuple<tensor<8xf32>, tensor<8xf32>>, tensor<8xf32>
}
