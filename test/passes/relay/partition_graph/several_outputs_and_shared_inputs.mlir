// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s
// %x is read twice and is one parameter; %a and %b are needed outside and are two results, %a though used twice.

// CHECK:      func.func @main
// CHECK-NEXT:   %a, %b = func.call @tvmgen_default_dnnl_main_0(%x) : (tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-NEXT:   %e = relay.erf %a
// CHECK-NEXT:   %f = relay.erf %a
// CHECK-NEXT:   func.return %b, %e, %f
// CHECK:      func.func @tvmgen_default_dnnl_main_0(%dnnl_0_i0: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>)
// CHECK-SAME:   attributes {Compiler = "dnnl", Inline = 1 : i64, Primitive = 1 : i64, global_symbol = "tvmgen_default_dnnl_main_0"}
// CHECK-NEXT:   %a = relay.multiply %dnnl_0_i0, %dnnl_0_i0
// CHECK-NEXT:   %b = relay.nn.relu %a
// CHECK-NEXT:   func.return %a, %b
// CHECK-NOT:  annotation
func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) {
  %a = relay.multiply %x, %x : tensor<8xf32>
  %b = relay.nn.relu %a : tensor<8xf32>
  %e = relay.erf %a : tensor<8xf32>
  %f = relay.erf %a : tensor<8xf32>
  return %b, %e, %f : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
