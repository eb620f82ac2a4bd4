// RUN: opt-tool %s -p tir-sanitize | filecheck %s
// Bounds that the loops do not give become a guard of the access and a check of its value.

tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    %x = tir.load %X[%i - 1] where [%i - 2 >= 0] : memref<4xf32>
    tir.store %x, %y[%i + 1] : memref<4xf32>
  }
}

// CHECK:      tir.for %i = 0 to 4 "y.i" {
// CHECK-NEXT:   %x = tir.load %X[%i - 1] where [%i - 2 >= 0, %i - 1 >= 0] : memref<4xf32>
// CHECK-NEXT:   %inside = tir.condition [%i - 1 >= 0] : i1
// CHECK-NEXT:   %[[ASKED:.*]] = tir.condition [%i - 2 >= 0] : i1
// CHECK:        %[[HOLDS:.*]] = arith.ori %inside, %{{.*}} : i1
// CHECK-NEXT:   %{{.*}} = tir.check %x, %[[HOLDS]] "%X[%i - 1] is read outside of its bounds [4], in loop \22y.i\22" : f32
// CHECK:        %[[INSIDE:.*]] = tir.condition [%i * -1 + 2 >= 0] : i1
// CHECK-NEXT:   %[[VALUE:.*]] = tir.check %{{.*}}, %[[INSIDE]] "%y[%i + 1] is written outside of its bounds [4], in loop \22y.i\22" : f32
// CHECK-NEXT:   tir.store %[[VALUE]], %y[%i + 1] where [%i * -1 + 2 >= 0] : memref<4xf32>
