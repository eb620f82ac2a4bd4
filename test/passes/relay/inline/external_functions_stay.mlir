// RUN: opt-tool %s -p 'relay-inline{unmarked=true}' | filecheck %s
// The mark that partitioning sets does not undo it: the function is its compiler's.

// CHECK:      func.call @tvmgen_default_openblas_main_0(%x)
// CHECK:      func.func @tvmgen_default_openblas_main_0
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %y = func.call @tvmgen_default_openblas_main_0(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func @tvmgen_default_openblas_main_0(%i: tensor<8xf32>) -> tensor<8xf32> attributes {Compiler = "openblas", Inline = 1 : i64, Primitive = 1 : i64} {
  %0 = relay.nn.relu %i : tensor<8xf32>
  return %0 : tensor<8xf32>
}
