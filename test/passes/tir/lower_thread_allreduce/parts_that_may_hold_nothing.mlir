// RUN: opt-tool %s -p tir-lower-thread-allreduce --verify-roundtrip | filecheck %s
// Nobody knows where these maxima and their places begin: a number beside each part says whether it holds anything yet.

tir.func @f(%X: memref<4x3xf32>, %p: memref<4xi32>, %v: memref<4xf32>) attributes {outputs = 2 : i64} {
  tir.for %i = 0 to 4 thread "blockIdx.x" "y.i" {
    tir.block "y.init" {
      %none = arith.constant -1 : i32
      %least = arith.constant 0xff800000 : f32
      tir.store %none, %p[%i] : memref<4xi32>
      tir.store %least, %v[%i] : memref<4xf32>
    }
    tir.for %k = 0 to 3 thread "threadIdx.x" reduction "y.k" {
      tir.block "y" {
        %p0 = tir.load %p[%i] : memref<4xi32>
        %v0 = tir.load %v[%i] : memref<4xf32>
        %k0 = tir.index [%k] : index
        %p1 = arith.index_cast %k0 : index to i32
        %v1 = tir.load %X[%i, %k] : memref<4x3xf32>
        %first = arith.cmpf oge, %v0, %v1 : f32
        %a = arith.select %first, %p0, %p1 : i32
        %b = arith.select %first, %v0, %v1 : f32
        tir.store %a, %p[%i] : memref<4xi32>
        tir.store %b, %v[%i] : memref<4xf32>
      }
    }
  }
}

// CHECK:      %y_parts_any = tir.alloc "y.parts.any" scope "shared" : memref<3xi32>
// CHECK:        %y_part_any = tir.alloc "y.part.any" scope "local" : memref<i32>
// CHECK:        tir.block "y.part" {
// CHECK:          %[[ANY:.*]] = tir.load %y_part_any[] : memref<i32>
// CHECK-NEXT:     %[[ZERO:.*]] = arith.constant 0 : i32
// CHECK-NEXT:     %[[BEGUN:.*]] = arith.cmpi ne, %[[ANY]], %[[ZERO]] : i32
// CHECK-NEXT:     %[[P:.*]] = arith.select %[[BEGUN]], %a, %p1 : i32
// CHECK-NEXT:     tir.store %[[P]], %y_part0[] : memref<i32>
// CHECK-NEXT:     %[[V:.*]] = arith.select %[[BEGUN]], %b, %v1 : f32
// CHECK-NEXT:     tir.store %[[V]], %y_part1[] : memref<f32>
// CHECK-NEXT:     %[[ONE:.*]] = arith.constant 1 : i32
// CHECK-NEXT:     tir.store %[[ONE]], %y_part_any[] : memref<i32>
// CHECK:      tir.for %k = 0 to 3 thread "threadIdx.x" "y.k.fold2" {
// CHECK:          arith.ori {{.*}} : i32
// CHECK:          tir.store {{.*}}, %y_parts_any[%k] : memref<3xi32>
// CHECK:      tir.block "y" {
