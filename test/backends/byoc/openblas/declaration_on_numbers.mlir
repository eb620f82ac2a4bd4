// RUN: opt-tool %s -p te-to-tir --split-input-file --verify-diagnostics
// What calls an external function passes it buffers.

// expected-error@+1 {{@f: an external function takes and gives tensors, or buffers of which the last 'outputs' are results}}
func.func private @f(f32) -> tensor<8xf32> attributes {Compiler = "openblas", code = "{}", constants = []}

// -----

// expected-error@+1 {{@f: an external function takes and gives tensors}}
func.func private @f(memref<8xf32>) attributes {Compiler = "openblas", code = "{}", constants = [], outputs = 2 : i64}

// -----

func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{te-to-tir: there is no function @f to call}}
  %y = te.call @f(%x) : (tensor<8xf32>) -> tensor<8xf32>
  return %y : tensor<8xf32>
}
func.func private @f(tensor<8xf32>) -> tensor<8xf32> attributes {Compiler = "openblas", code = "{}"}
