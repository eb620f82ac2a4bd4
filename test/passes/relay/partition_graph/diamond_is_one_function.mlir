// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// All of the diamond is dnnl's: one function of one input and one output.

// CHECK:      func.func @main
// CHECK-NEXT:   %d = func.call @tvmgen_default_dnnl_main_0(%x)
// CHECK-NEXT:   func.return %d
// CHECK:      func.func @tvmgen_default_dnnl_main_0(%dnnl_0_i0: tensor<8xf32>) -> tensor<8xf32>
// CHECK-NEXT:   %a = relay.exp %dnnl_0_i0
// CHECK-NEXT:   %b = relay.abs %a
// CHECK-NEXT:   %c = relay.tanh %a
// CHECK-NEXT:   %d = relay.add %b, %c
// CHECK-NEXT:   func.return %d
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  %b = relay.abs %a : tensor<8xf32>
  %c = relay.tanh %a : tensor<8xf32>
  %d = relay.add %b, %c : tensor<8xf32>
  return %d : tensor<8xf32>
}
