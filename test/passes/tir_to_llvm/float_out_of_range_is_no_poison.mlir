// A float that no integer stands for (NaN, too large) gives some number: the conversion's poison is frozen.
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s

// CHECK:      %[[RAW:.*]] = llvm.fptosi %{{.*}} : f32 to i32
// CHECK-NEXT: %[[SAFE:.*]] = llvm.freeze %[[RAW]] : i32
// CHECK-NEXT: llvm.store %[[SAFE]],
tir.func @f(%x: memref<1xf32>, %y: memref<1xi32>) attributes {outputs = 1 : i64} {
  %a = tir.load %x[0] : memref<1xf32>
  %b = arith.fptosi %a : f32 to i32
  tir.store %b, %y[0] : memref<1xi32>
}
