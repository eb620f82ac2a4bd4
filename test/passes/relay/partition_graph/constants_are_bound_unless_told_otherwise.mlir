// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph' | filecheck %s --check-prefix BOUND
// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-merge-compiler-regions,relay-partition-graph{bind-constants=false mod-name=net}' | filecheck %s --check-prefix FREE

// BOUND:      func.func @main
// BOUND-NEXT:   func.call @tvmgen_default_dnnl_main_0(%x) :
// BOUND:      func.func @tvmgen_default_dnnl_main_0(%dnnl_0_i0: tensor<8xf32>)
// BOUND-NEXT:   %c = relay.constant
// BOUND-NEXT:   relay.multiply %dnnl_0_i0, %c

// FREE:       %c = relay.constant
// FREE-NEXT:  func.call @tvmgen_net_dnnl_main_0(%x, %c) :
// FREE:       func.func @tvmgen_net_dnnl_main_0(%dnnl_0_i0: tensor<8xf32>, %dnnl_0_i1: tensor<8xf32>)
// FREE-NEXT:    relay.multiply %dnnl_0_i0, %dnnl_0_i1
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c = relay.constant dense<2.0> : tensor<8xf32>
  %a = relay.multiply %x, %c : tensor<8xf32>
  return %a : tensor<8xf32>
}
