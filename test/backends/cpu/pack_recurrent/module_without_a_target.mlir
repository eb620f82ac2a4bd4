// RUN: opt-tool %s -p cpu-pack-recurrent --verify-diagnostics

// expected-error@unknown {{the module names no 'lamina.target'}}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
