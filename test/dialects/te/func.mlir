// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p te-to-tir | filecheck %s --check-prefix AFTER
// A kernel of a size: tensors in, tensors out, one equation each.

te.func @f(%n: index, %X: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %y = te.compute "y" [%n] (%i) : tensor<?xf32> {
    %x = te.read %X[%i] : tensor<?xf32>
    %s = arith.addf %x, %x : f32
    te.yield %s : f32
  }
  te.return %y : tensor<?xf32>
}

// CHECK: te.func @f(%n: index, %X: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32>
// AFTER: tir.func @f(%n: index, %X: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y_out: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64}
// AFTER: tir.for %i = 0 to min [%n] "y.i"
// AFTER: %x = tir.load %X[%i] : memref<?xf32>
// AFTER: tir.store %s, %y_out[%i] : memref<?xf32>
