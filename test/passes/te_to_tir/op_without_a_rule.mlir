// RUN: opt-tool %s -p te-to-tir --verify-diagnostics --split-input-file

te.func @f(%X: tensor<4xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] (%i) : tensor<4xf32> {
    %x = te.read %X[%i] : tensor<4xf32>
    // expected-error@+1 {{te-to-tir: complex.create cannot stand in a te.compute; `opt-tool --list-rules te-to-tir` lists what can}}
    %c = complex.create %x, %x : complex<f32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}

// -----

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{te-to-tir: tensor.empty cannot stand in @main}}
  %y = tensor.empty() : tensor<4xf32>
  return %x : tensor<4xf32>
}
