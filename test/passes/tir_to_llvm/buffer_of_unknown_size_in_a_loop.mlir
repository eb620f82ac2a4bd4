// RUN: opt-tool %s -p tir-to-llvm | filecheck %s

// The stack is no place for a buffer whose size only the caller knows. Its memory is taken once, before the loop, and
// begins with a cache line.

// CHECK:        %[[BYTES:.*]] = llvm.mul %n, %{{.*}} : i64
// CHECK:        %[[ROOM:.*]] = llvm.add %[[BYTES]], %{{.*}} : i64
// CHECK-NEXT:   %[[T:.*]] = llvm.call @malloc(%[[ROOM]]) : (i64) -> !llvm.ptr
// CHECK-NEXT:   llvm.ptrtoint %[[T]] : !llvm.ptr to i64
// CHECK:      ^bb1(%i: i64):
// CHECK:        llvm.store %{{.*}}, %{{.*}} {alignment = 4 : i64} : f32, !llvm.ptr
// CHECK:        llvm.call @free(%[[T]]) : (!llvm.ptr) -> ()
// CHECK-NEXT:   llvm.return
tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    %t = tir.alloc "t" scope "local" [%n] : memref<?xf32>
    tir.for %j = 0 to min [%n] "t.j" {
      %a = tir.load %x[%j] : memref<?xf32>
      tir.store %a, %t[%j] : memref<?xf32>
    }
    %b = tir.load %t[%i] where [%n + %i * -1 - 1 >= 0] : memref<?xf32>
    tir.store %b, %y[%i] : memref<4xf32>
  }
}
