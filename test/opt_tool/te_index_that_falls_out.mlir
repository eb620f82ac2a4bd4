// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// What an expression loses is no operand; the others are ordered as the text that is printed names them.

// CHECK-LABEL: te.func @read
te.func @read(%X: tensor<8xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] sum [2] (%i, %k) : tensor<4xf32> {
    // CHECK: te.read %X[%k - 1] where [%i * 2 + %k - 1 >= 0] : tensor<8xf32>
    %x = te.read %X[%i * 0 + %k - 1] where [%i * 2 + %k >= 1] : tensor<8xf32>
    // CHECK: te.read %X[%k + %i] : tensor<8xf32>
    %z = te.read %X[%i - %i + %k + %i] : tensor<8xf32>
    %s = arith.addf %x, %z : f32
    te.yield %s : f32
  }
  te.return %y : tensor<4xf32>
}

// CHECK-LABEL: te.func @sizes
te.func @sizes(%n: index, %m: index) -> tensor<?xf32> {
  // CHECK: te.compute "y" [%m] sum [%n] (%i, %k)
  %y = te.compute "y" [%n * 0 + %m] sum [%n] (%i, %k) : tensor<?xf32> {
    %one = arith.constant 1.0 : f32
    te.yield %one : f32
  }
  // CHECK: te.extern "z" () -> (%p [%m, %n]) :
  %z = te.extern "z" () -> (%p [%n - %n + %m, %n]) : () -> tensor<?x?xf32> {
  }
  te.return %y : tensor<?xf32>
}
te.schedule @sizes {
  %i, %k = te.loops "y" [2]
  // CHECK: te.store_predicate "y" where [%k >= 0, %i == 0]
  te.store_predicate "y" where [%i - %i + %k >= 0, %i == 0]
}

// CHECK-LABEL: te.func @length
te.func @length(%n: index, %m: index) -> tensor<?x4xf32> {
  %first = te.compute "first" [1, 4] (%z, %i) : tensor<1x4xf32> {
    %one = arith.constant 1.0 : f32
    te.yield %one : f32
  }
  // CHECK: te.scan "h" [%m + %n] (%t)
  %h = te.scan "h" [%n - %n + %m + %n] (%t) (%state = %first) : (tensor<1x4xf32>) -> tensor<?x4xf32> {
    %new = te.compute "new" [4] (%i) : tensor<4xf32> {
      %s = te.read %state[%t - 1, %i] : tensor<?x4xf32>
      te.yield %s : f32
    }
    te.yield %new : tensor<4xf32>
  }
  te.return %h : tensor<?x4xf32>
}
