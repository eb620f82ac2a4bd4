// RUN: opt-tool %s -p tir-sanitize | filecheck %s
// In a parallel loop each element remembers who wrote it and who read it; nobody else's iteration may have.

tir.func @f(%y: memref<2xf32>) attributes {outputs = 1 : i64} {
  %one = arith.constant 1.0 : f32
  tir.for %i = 0 to 2 parallel "y.i" {
    tir.store %one, %y[%i] : memref<2xf32>
  }
}

// CHECK:      %y_writer = tir.alloc "y.writer" scope "global" : memref<2xi32>
// CHECK:      tir.for %i = 0 to 2 parallel "y.i" {
// CHECK-NEXT:   %[[NEXT:.*]] = tir.index [%i + 1] : index
// CHECK-NEXT:   %[[ME:.*]] = arith.index_cast %[[NEXT]] : index to i32
// CHECK-NEXT:   %[[WRITER:.*]] = tir.load %y_writer[%i] : memref<2xi32>
// CHECK:        %[[OWN:.*]] = arith.cmpi eq, %[[WRITER]], %[[ME]] : i32
// CHECK-NEXT:   %[[MINE:.*]] = arith.ori %{{.*}}, %[[OWN]] : i1
// CHECK-NEXT:   tir.check %one, %[[MINE]] "%y[%i] is written by two iterations of the parallel loop \22y.i\22" : f32
// CHECK:        tir.store %[[ME]], %y_writer[%i] : memref<2xi32>
