// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// %k is bound into dnnl's function, once for two uses, and stays for the op outside; what comes of it there is an argument.

// CHECK:      %k = relay.constant
// CHECK-NEXT: %c = relay.erf %k
// CHECK-NEXT: %d = func.call @tvmgen_default_dnnl_main_0(%x, %c)
// CHECK:      func.func @tvmgen_default_dnnl_main_0
// CHECK-NEXT:   %k = relay.constant
// CHECK-NEXT:   %a = relay.multiply %dnnl_0_i0, %k
// CHECK-NEXT:   %b = relay.add %a, %k
// CHECK-NEXT:   %d = relay.add %b, %dnnl_0_i1
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %k = relay.constant dense<2.0> : tensor<8xf32>
  %a = relay.multiply %x, %k : tensor<8xf32>
  %b = relay.add %a, %k : tensor<8xf32>
  %c = relay.erf %k : tensor<8xf32>
  %d = relay.add %b, %c : tensor<8xf32>
  return %d : tensor<8xf32>
}
