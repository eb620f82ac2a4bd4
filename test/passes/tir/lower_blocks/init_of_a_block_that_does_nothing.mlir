// RUN: opt-tool %s -p tir-lower-blocks | filecheck %s
// What a block starts is started, also where nothing follows.

tir.func @f(%y: memref<1xf32>) attributes {outputs = 1 : i64} {
  tir.block "y" init {
    %zero = arith.constant 0.0 : f32
    tir.store %zero, %y[0] : memref<1xf32>
  } do {
  }
  %acc = tir.load %y[0] : memref<1xf32>
  tir.store %acc, %y[0] : memref<1xf32>
}

// CHECK:      %zero = arith.constant 0.000000e+00 : f32
// CHECK-NEXT: tir.store %zero, %y[0] : memref<1xf32>
// CHECK-NEXT: %acc = tir.load %y[0] : memref<1xf32>
