// RUN: opt-tool %s -p 'relay-annotate-target{targets=bnns,ethos-n,dnnl},relay-merge-compiler-regions,relay-partition-graph,relay-fuse-ops' | filecheck %s
// Signs that a symbol cannot have become `_`. What an external compiler takes is not fused by relay-fuse-ops.

// CHECK:      func.func @main
// CHECK:      func.call @tvmgen_default_bnns_main_0(%x, %w)
// CHECK-NEXT: func.call @tvmgen_default_ethos_n_main_1
// CHECK-NEXT: relay.fn
// CHECK-NEXT:   relay.erf
// CHECK:      func.call @tvmgen_default_dnnl_main_2
// CHECK:      func.func @tvmgen_default_bnns_main_0(%bnns_0_i0: tensor<2x4xf32>, %bnns_0_i1: tensor<8x4xf32>)
// CHECK-NEXT:   relay.nn.dense
// CHECK:      func.func @tvmgen_default_ethos_n_main_1(%ethos_n_1_i0: tensor<2x8xf32>)
// CHECK-SAME:   Compiler = "ethos-n"
// CHECK-NEXT:   relay.clip
// CHECK:      func.func @tvmgen_default_dnnl_main_2
// CHECK-NEXT:   relay.exp
// CHECK-NEXT:   relay.tanh
func.func @main(%x: tensor<2x4xf32>, %w: tensor<8x4xf32>) -> tensor<2x8xf32> {
  %d = relay.nn.dense %x, %w : (tensor<2x4xf32>, tensor<8x4xf32>) -> tensor<2x8xf32>
  %c = relay.clip %d {a_min = 0.0, a_max = 6.0} : tensor<2x8xf32>
  %e = relay.erf %c : tensor<2x8xf32>
  %g = relay.exp %e : tensor<2x8xf32>
  %h = relay.tanh %g : tensor<2x8xf32>
  return %h : tensor<2x8xf32>
}
