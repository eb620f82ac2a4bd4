// RUN: opt-tool %s -p tir-storage-flatten | filecheck %s
// RUN: opt-tool %s -p 'tir-storage-flatten{aligned-only=true}' | filecheck %s --check-prefix ALIGNED
// Rows of B are 33 apart, one more than a multiple of 32; those of C as long as they are.

tir.func @f(%A: memref<8x32xf32>, %y: memref<8x32xf32>) attributes {outputs = 1 : i64} {
  %B = tir.alloc "B" scope "global" {storage_align = array<i64: 0, 32, 1>} : memref<8x32xf32>
  %C = tir.alloc "C" scope "global" : memref<8x32xf32>
  tir.for %i = 0 to 8 "i" {
    %a = tir.load %A[%i, lane] : memref<8x32xf32>, vector<32xf32>
    tir.store %a, %B[%i, lane] : memref<8x32xf32>, vector<32xf32>
    tir.for %j = 0 to 32 "j" {
      %b = tir.load %B[%i, %j - 1] where [%j - 1 >= 0] : memref<8x32xf32>
      tir.store %b, %C[%i, %j] : memref<8x32xf32>
      %c = tir.load %C[%i, %j] : memref<8x32xf32>
      tir.store %c, %y[%i, %j] : memref<8x32xf32>
    }
  }
}

// CHECK:      %B = tir.alloc "B" scope "global" : memref<264xf32>
// CHECK-NEXT: %C = tir.alloc "C" scope "global" : memref<256xf32>
// CHECK:      tir.store %a, %B[%i * 33 + lane] : memref<264xf32>, vector<32xf32>
// CHECK:      %b = tir.load %B[%i * 33 + %j - 1] where [%j - 1 >= 0] : memref<264xf32>
// CHECK-NEXT: tir.store %b, %C[%i * 32 + %j] : memref<256xf32>
// CHECK:      tir.store %c, %y[%i, %j] : memref<8x32xf32>

// ALIGNED:      %B = tir.alloc "B" scope "global" : memref<264xf32>
// ALIGNED-NEXT: %C = tir.alloc "C" scope "global" : memref<8x32xf32>
