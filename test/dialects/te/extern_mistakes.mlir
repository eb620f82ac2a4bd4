// RUN: opt-tool %s --split-input-file --verify-diagnostics

te.func @writes_an_input(%X: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{tir.store writes the input %x}}
  %a = te.extern "e" (%x = %X) -> (%p) : (tensor<8xf32>) -> tensor<8xf32> {
    %v = tir.load %x[0] : memref<8xf32>
    tir.store %v, %x[1] : memref<8xf32>
  }
  te.return %a : tensor<8xf32>
}
// -----
te.func @reads_a_tensor(%X: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{te.read cannot stand in a te.extern: its body is tir without calls}}
  %a = te.extern "e" (%x = %X) -> (%p) : (tensor<8xf32>) -> tensor<8xf32> {
    %v = te.read %X[0] : tensor<8xf32>
    tir.store %v, %p[1] : memref<8xf32>
  }
  te.return %a : tensor<8xf32>
}
// -----
te.func @calls(%X: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{tir.call cannot stand in a te.extern: its body is tir without calls}}
  %a = te.extern "e" (%x = %X) -> (%p) : (tensor<8xf32>) -> tensor<8xf32> {
    tir.call @g(%x, %p) : memref<8xf32>, memref<8xf32>
  }
  te.return %a : tensor<8xf32>
}
// -----
te.func @numbers(%X: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error@+1 {{1 inputs and 1 outputs, but other numbers of types}}
  %a = te.extern "e" (%x = %X) -> (%p) : () -> tensor<8xf32> {
  }
  te.return %a : tensor<8xf32>
}
// -----
te.func @extents(%n: index) -> tensor<?xf32> {
  // expected-error@+1 {{extents are given where one is unknown, and nowhere else}}
  %a = te.extern "e" () -> (%p) : () -> tensor<?xf32> {
  }
  te.return %a : tensor<?xf32>
}
