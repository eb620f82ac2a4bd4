// RUN: opt-tool %s -p te-to-tir --split-input-file --verify-diagnostics
// Lists of loops may be empty in the text; the primitives ask for a loop.

te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}
te.schedule @f {
  // expected-error@+1 {{te.reorder: reorder takes at least one loop}}
  te.reorder
}
// -----
te.func @f(%X: tensor<8xf32>) -> tensor<8xf32> {
  %y = te.compute "y" [8] (%i) : tensor<8xf32> {
    %x = te.read %X[%i] : tensor<8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<8xf32>
}
te.schedule @f {
  // expected-error@+1 {{te.fuse: fuse takes at least one loop}}
  %i = te.fuse
}
