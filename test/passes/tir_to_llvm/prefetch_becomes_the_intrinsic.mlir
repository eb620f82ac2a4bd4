// RUN: opt-tool %s -p tir-to-llvm | filecheck %s

// CHECK:      %[[P:.*]] = llvm.getelementptr %{{.*}}[80]
// CHECK-NEXT: "llvm.intr.prefetch"(%[[P]]) <{rw = 0 : i32, hint = 3 : i32, cache = 1 : i32}> : (!llvm.ptr) -> ()
tir.func @f(%A: memref<8x40xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "i" {
    tir.prefetch %A[%i + 2, 0] locality 3 : memref<8x40xf32>
    %a = tir.load %A[%i, 0] : memref<8x40xf32>
    tir.store %a, %y[%i] : memref<8xf32>
  }
}
