// RUN: opt-tool %s -p relay-external-codegen | filecheck %s
// Only functions of external compilers are compiled, each once: primitive ones, and declarations, are left.

// CHECK:      relay.fn {{.*}} attributes {Primitive = 1 : i64}
// CHECK:      func.func private @tvmgen_default_openblas_main_0(tensor<8xf32>) -> tensor<8xf32> attributes {Compiler = "openblas", code = "{}", constants = []}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %f = relay.fn (%p: tensor<8xf32>) -> tensor<8xf32> attributes {Primitive = 1 : i64} {
    %0 = relay.exp %p : tensor<8xf32>
    relay.return %0 : tensor<8xf32>
  }
  %y = relay.call %f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  %z = func.call @tvmgen_default_openblas_main_0(%y) : (tensor<8xf32>) -> tensor<8xf32>
  return %z : tensor<8xf32>
}
func.func private @tvmgen_default_openblas_main_0(tensor<8xf32>) -> tensor<8xf32> attributes {Compiler = "openblas", code = "{}", constants = []}
