// RUN: opt-tool %s --verify-diagnostics

// expected-error @below {{argument 1: its te.shape names `lane`, the element of a vector}}
te.func @f(%n: index, %X: tensor<?x4xf32> {te.shape = #te.map<(d0) -> (lane * 2, 4)>}) -> tensor<4xf32> {
  %y = te.compute "y" [4] (%i) : tensor<4xf32> {
    %x = te.read %X[0, %i] : tensor<?x4xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
