// RUN: opt-tool %s -p tir-vectorize-loop | filecheck %s
// What differs by lane is masked, what does not stays a branch; idle lanes divide by one.

tir.func @f(%n: index, %A: memref<8xi32>, %y: memref<8xi32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 vectorized "y.i" {
    tir.if [%n - 1 >= 0, 5 - %i >= 0] {
      %a = tir.load %A[%i + 2] : memref<8xi32>
      %d = arith.divsi %a, %a : i32
      tir.store %d, %y[%i] : memref<8xi32>
    }
  }
}

// CHECK-LABEL: tir.func @f
// CHECK-NEXT:   tir.if [%n - 1 >= 0] {
// CHECK-NEXT:     %a = tir.load %A[lane + 2] where [lane * -1 + 5 >= 0] : memref<8xi32>, vector<8xi32>
// CHECK-NEXT:     %0 = arith.constant 1 : i32
// CHECK-NEXT:     %1 = arith.constant dense<1> : vector<8xi32>
// CHECK-NEXT:     %2 = tir.condition [lane * -1 + 5 >= 0] : vector<8xi1>
// CHECK-NEXT:     %3 = tir.select %2, %a, %1 : vector<8xi1>, vector<8xi32>
// CHECK-NEXT:     %d = arith.divsi %a, %3 : vector<8xi32>
// CHECK-NEXT:     tir.store %d, %y[lane] where [lane * -1 + 5 >= 0] : memref<8xi32>, vector<8xi32>
// CHECK-NEXT:   }
