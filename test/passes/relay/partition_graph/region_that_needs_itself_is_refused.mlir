// RUN: opt-tool %s -p relay-partition-graph --verify-diagnostics
// Written by hand: the region of abs and add has to be computed before erf, and after it.

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = relay.annotation.compiler_begin %x {compiler = "dnnl"} : tensor<8xf32>
  // expected-error@+1 {{the dnnl region of relay.abs needs what is computed from it}}
  %a = relay.abs %0 : tensor<8xf32>
  %1 = relay.annotation.compiler_end %a {compiler = "dnnl"} : tensor<8xf32>
  %c = relay.erf %1 : tensor<8xf32>
  %2 = relay.annotation.compiler_begin %c {compiler = "dnnl"} : tensor<8xf32>
  %d = relay.add %a, %2 : tensor<8xf32>
  %3 = relay.annotation.compiler_end %d {compiler = "dnnl"} : tensor<8xf32>
  return %3 : tensor<8xf32>
}
