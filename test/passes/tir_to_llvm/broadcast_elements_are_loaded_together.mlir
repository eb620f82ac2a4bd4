// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// What unrolled iterations read one after the other, each to have it in all lanes, is one load; on a machine that reads
// any element of memory into all lanes LLVM makes an instruction of each shuffle. A condition on the iteration, an
// element that is used by itself as well and a loop of an odd number of iterations keep loads of one element.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "znver4", features = "+avx512f", vector_bits = 512, registers = 32, threads = 1>} {
  // CHECK-LABEL: @together.body
  // CHECK:         %[[P:.*]] = llvm.getelementptr %x[8]
  // CHECK-NEXT:    %a = llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr -> vector<8xf32>
  // CHECK-NEXT:    llvm.shufflevector %a, %{{.*}} [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0] : vector<8xf32>
  // CHECK:         llvm.shufflevector %a, %{{.*}} [1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1] : vector<8xf32>
  // CHECK:         llvm.shufflevector %a, %{{.*}} [7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7] : vector<8xf32>
  // CHECK-NOT:     llvm.insertelement
  tir.func @together(%x: memref<24xf32>, %y: memref<8x16xf32>) {
    tir.for %i = 0 to 8 unrolled "y.i" {
      %a = tir.load %x[%i + 8] : memref<24xf32>
      %b = tir.broadcast %a : f32 to vector<16xf32>
      tir.store %b, %y[%i, lane] : memref<8x16xf32>, vector<16xf32>
    }
  }

  // CHECK-LABEL: @under_a_condition.body
  // CHECK-NOT:     -> vector
  tir.func @under_a_condition(%n: index, %x: memref<24xf32>, %y: memref<8x16xf32>) {
    tir.for %i = 0 to 8 unrolled "y.i" {
      tir.if [%n + %i * -1 - 1 >= 0] {
        %a = tir.load %x[%i] : memref<24xf32>
        %b = tir.broadcast %a : f32 to vector<16xf32>
        tir.store %b, %y[%i, lane] : memref<8x16xf32>, vector<16xf32>
      }
    }
  }

  // CHECK-LABEL: @also_by_itself.body
  // CHECK-NOT:     -> vector
  tir.func @also_by_itself(%x: memref<24xf32>, %y: memref<8x16xf32>, %z: memref<8xf32>) {
    tir.for %i = 0 to 8 unrolled "y.i" {
      %a = tir.load %x[%i] : memref<24xf32>
      %b = tir.broadcast %a : f32 to vector<16xf32>
      tir.store %b, %y[%i, lane] : memref<8x16xf32>, vector<16xf32>
      tir.store %a, %z[%i] : memref<8xf32>
    }
  }

  // CHECK-LABEL: @odd_number.body
  // CHECK-NOT:     -> vector
  tir.func @odd_number(%x: memref<24xf32>, %y: memref<7x16xf32>) {
    tir.for %i = 0 to 7 unrolled "y.i" {
      %a = tir.load %x[%i] : memref<24xf32>
      %b = tir.broadcast %a : f32 to vector<16xf32>
      tir.store %b, %y[%i, lane] : memref<7x16xf32>, vector<16xf32>
    }
  }
}
