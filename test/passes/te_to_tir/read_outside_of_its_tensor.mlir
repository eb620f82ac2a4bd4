// RUN: opt-tool %s -p te-to-tir --verify-diagnostics --split-input-file

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    // expected-error @below {{stage 'y' reads dimension 0 of %X at 1 beyond its last element; guard it: te.if_then_else, or `where` in the text}}
    %x = te.read %X[%i + 1] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}
// -----
te.func @f(%X: tensor<4x8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] sum [3] (%i, %k) : tensor<8xf32> {
    // expected-error @below {{stage 'y' reads dimension 1 of %X at -2, before its first element}}
    %x = te.read %X[%k, %i - %k] : tensor<4x8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}
// -----
te.func @f(%n: index, %X: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %y = te.compute "y" [%n] (%i) : tensor<?xf32> {
    // expected-error @below {{stage 'y' reads dimension 0 of %X at 3 beyond its last element}}
    %x = te.read %X[%i + 3] : tensor<?xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<?xf32>
}
// -----
// Under a condition, or over nothing, it is never read there.
te.func @f(%X: tensor<8xf32>) -> (tensor<8xf32>, tensor<0xf32>) {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i + 1] where [6 - %i >= 0] : tensor<8xf32>
    te.yield %x : f32
  }
  %z = te.compute "z" [0] (%i) : tensor<0xf32> {
    %x = te.read %X[%i + 9] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y, %z : tensor<8xf32>, tensor<0xf32>
}
