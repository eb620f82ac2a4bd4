// RUN: opt-tool %s -p tir-sanitize | filecheck %s
// RUN: opt-tool %s -p "tir-sanitize{everything}" | filecheck %s --check-prefix=ALL
// No check of an index that the ranges of the loops keep inside, unless everything is to be checked.

tir.func @f(%X: memref<16xf32>, %y: memref<16xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 2 "y.i" {
    %x = tir.load %X[%i * 8 + lane] : memref<16xf32>, vector<8xf32>
    tir.store %x, %y[%i * 8 + lane] : memref<16xf32>, vector<8xf32>
  }
}

// CHECK:      tir.for %i = 0 to 2 "y.i" {
// CHECK-NEXT:   %x = tir.load %X[%i * 8 + lane] : memref<16xf32>, vector<8xf32>
// CHECK-NEXT:   tir.store %x, %y[%i * 8 + lane] : memref<16xf32>, vector<8xf32>
// CHECK-NEXT:   %{{.*}} = arith.constant dense<1> : vector<8xi8>
// CHECK-NEXT:   tir.store %{{.*}}, %y_written[%i * 8 + lane] : memref<16xi8>, vector<8xi8>
// CHECK-NEXT: }

// ALL:        %x = tir.load %X[%i * 8 + lane] where [%i * 8 + lane >= 0, %i * -8 + lane * -1 + 15 >= 0] : memref<16xf32>, vector<8xf32>
// ALL-NEXT:   %inside = tir.condition [%i * 8 + lane >= 0, %i * -8 + lane * -1 + 15 >= 0] : vector<8xi1>
