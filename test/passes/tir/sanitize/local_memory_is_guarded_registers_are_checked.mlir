// RUN: opt-tool %s -p tir-sanitize | filecheck %s
// Local memory is guarded as other memory is. Registers are no memory: their access is checked alone.

tir.func @f(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %t = tir.alloc "t" scope "global" : memref<4xf32>
  %r = tir.alloc "r" scope "register" : memref<4xf32>
  tir.for %i = 0 to 4 "i" {
    %x = tir.load %X[%i] : memref<4xf32>
    tir.store %x, %t[%i + 1] : memref<4xf32>
    tir.store %x, %r[%i + 1] : memref<4xf32>
  }
  tir.for %i = 0 to 4 "i" {
    %x = tir.load %t[%i] : memref<4xf32>
    tir.store %x, %y[%i] : memref<4xf32>
  }
}

// CHECK:      %{{.*}} = tir.check %x, %{{.*}} "%t[%i + 1] is written outside of its bounds [4], in loop \22i\22" : f32
// CHECK-NEXT: tir.store %{{.*}}, %t[%i + 1] where [%i * -1 + 2 >= 0] : memref<4xf32>
// CHECK:      %{{.*}} = tir.check %x, %{{.*}} "%r[%i + 1] is written outside of its bounds [4], in loop \22i\22" : f32
// CHECK-NEXT: tir.store %{{.*}}, %r[%i + 1] : memref<4xf32>
