// RUN: opt-tool %s -p relay-to-te --verify-diagnostics
// A function that partitioning has made and nobody has compiled has no place at the next level.
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{@tvmgen_default_openblas_main_0 is an external compiler's, and has not been compiled; run relay-external-codegen before}}
  %z = func.call @tvmgen_default_openblas_main_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
func.func @tvmgen_default_openblas_main_0(%i: tensor<8xf32>) -> tensor<8xf32> attributes {Compiler = "openblas"} {
  %0 = relay.nn.relu %i : tensor<8xf32>
  return %0 : tensor<8xf32>
}
