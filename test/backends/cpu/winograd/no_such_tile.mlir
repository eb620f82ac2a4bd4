// RUN: opt-tool %s -p cpu-winograd{tile-size=3} --verify-diagnostics

// expected-error@unknown {{cpu-winograd: tile-size is 4, 2, or 0 for none; not 3}}
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
