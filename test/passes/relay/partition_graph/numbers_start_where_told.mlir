// RUN: opt-tool %s -p 'relay-partition-graph{first-number=3}' | filecheck %s
// Functions of an earlier partitioning keep their names.

// CHECK: func.call @tvmgen_default_dnnl_main_3(%x)
// CHECK: func.call @tvmgen_default_dnnl_main_4
// CHECK: func.func @tvmgen_default_dnnl_main_3(%dnnl_3_i0: tensor<8xf32>)
// CHECK: func.func @tvmgen_default_dnnl_main_4(%dnnl_4_i0: tensor<8xf32>)
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "dnnl"} : tensor<8xf32>
  %1 = relay.exp %0 : tensor<8xf32>
  %2 = relay.annotation.compiler_end %1 {compiler = "dnnl"} : tensor<8xf32>
  %3 = relay.annotation.compiler_begin %2 {compiler = "dnnl"} : tensor<8xf32>
  %4 = relay.abs %3 : tensor<8xf32>
  %5 = relay.annotation.compiler_end %4 {compiler = "dnnl"} : tensor<8xf32>
  return %5 : tensor<8xf32>
}
