// RUN: opt-tool %s --split-input-file --verify-diagnostics

te.func @no_region(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{`reduce [...]` goes with the regions `combine (...) {...} identity {...}`}}
  %y = te.compute "y" [4] reduce [8] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x : f32
  }
  te.return %y : tensor<4xf32>
}
// -----
te.func @named_for_two(%X: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{sum reduces one value; 2 values take a combine region}}
  %y, %z = te.compute "y" [4] sum [8] (%i, %k) : tensor<4xf32>, tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x, %x : f32, f32
  }
  te.return %y, %z : tensor<4xf32>, tensor<4xf32>
}
// -----
te.func @other_types(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{combine yields i1; the results hold f32}}
  %y = te.compute "y" [4] reduce [8] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x : f32
  } combine (%a, %b) {
    %c = arith.cmpf ogt, %a, %b : f32
    te.yield %c : i1
  } identity {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<4xf32>
}
// -----
te.func @reads(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{combine holds te.read; it may hold arithmetic only}}
  %y = te.compute "y" [4] reduce [8] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x : f32
  } combine (%a, %b) {
    %c = te.read %X[0, 0] : tensor<4x8xf32>
    te.yield %c : f32
  } identity {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<4xf32>
}
// -----
te.func @too_few(%X: tensor<4x8xf32>) -> tensor<4xf32> {
  %y = te.compute "y" [4] reduce [8] (%i, %k) : tensor<4xf32> {
    %x = te.read %X[%i, %k] : tensor<4x8xf32>
    te.yield %x : f32
  // expected-error@+1 {{combine takes 2 arguments, two for each result; got 1}}
  } combine (%a) {
    te.yield %a : f32
  } identity {
    %zero = arith.constant 0.0 : f32
    te.yield %zero : f32
  }
  te.return %y : tensor<4xf32>
}
// -----
te.func @one_value(%X: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // expected-error@+1 {{te.yield gives 1 values for 2 results}}
  %y, %z = te.compute "y" [4] (%i) : tensor<4xf32>, tensor<4xf32> {
    %x = te.read %X[%i] : tensor<4xf32>
    te.yield %x : f32
  }
  te.return %y, %z : tensor<4xf32>, tensor<4xf32>
}
// -----
te.func @two_shapes(%X: tensor<4xf32>) -> (tensor<4xf32>, tensor<5xf32>) {
  // expected-error@+1 {{shape [4] differs from the result type tensor<5xf32>}}
  %y, %z = te.compute "y" [4] (%i) : tensor<4xf32>, tensor<5xf32> {
    %x = te.read %X[%i] : tensor<4xf32>
    te.yield %x, %x : f32, f32
  }
  te.return %y, %z : tensor<4xf32>, tensor<5xf32>
}
