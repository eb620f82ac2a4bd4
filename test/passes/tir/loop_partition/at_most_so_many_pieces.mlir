// RUN: opt-tool %s -p 'tir-loop-partition{max-pieces=2}' | filecheck %s --check-prefix TWO
// RUN: opt-tool %s -p 'tir-loop-partition{max-pieces=1}' | filecheck %s --check-prefix ONE
// RUN: not opt-tool %s -p 'tir-loop-partition{max-pieces=0}' 2>&1 | filecheck %s --check-prefix NONE
// Of two pieces the last one keeps what would be an epilogue; one piece is the loop as it is.

tir.func @f(%X: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "y.i" attributes {pragma_loop_partition_hint = 1 : i64} {
    %a = tir.load %X[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
    %b = tir.load %X[%i + 2] where [5 - %i >= 0] : memref<8xf32>
    %s = arith.addf %a, %b : f32
    tir.store %s, %y[%i] : memref<8xf32>
  }
}

// TWO:      tir.for %i = 0 to 1 "y.i.prologue.0" {
// TWO:      tir.for %i = 0 to 7 "y.i.main" {
// TWO-NEXT:   %a = tir.load %X[%i] : memref<8xf32>
// TWO-NEXT:   %b = tir.load %X[%i + 3] where [%i * -1 + 4 >= 0] : memref<8xf32>
// TWO-NOT:  tir.for

// ONE:      tir.for %i = 0 to 8 "y.i" {
// ONE-NEXT:   %a = tir.load %X[%i - 1] where [%i - 1 >= 0] : memref<8xf32>
// ONE-NEXT:   %b = tir.load %X[%i + 2] where [%i * -1 + 5 >= 0] : memref<8xf32>
// ONE-NOT:  tir.for

// NONE: error: tir-loop-partition: max-pieces is 0; a loop is at least one piece
