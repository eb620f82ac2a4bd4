// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics
// On buffers a declaration says how many of its arguments are results.

func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.call @f(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
// expected-error@+1 {{@f: an external function takes and gives tensors, or buffers of which the last 'outputs' are results}}
func.func private @f(memref<8xf32>, memref<8xf32>) attributes {Compiler = "openblas", code = "{}", constants = []}
