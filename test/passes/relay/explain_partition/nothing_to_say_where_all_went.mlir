// RUN: opt-tool %s -p 'relay-annotate-target{targets=dnnl},relay-partition-graph,relay-explain-partition{targets=dnnl}' 2>&1 | filecheck %s
// CHECK-NOT: remark
// CHECK:     func.call @tvmgen_default_dnnl_main_0
// CHECK-NOT: remark
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = relay.exp %x : tensor<8xf32>
  return %a : tensor<8xf32>
}
