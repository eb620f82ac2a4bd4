// RUN: opt-tool %s -p 'te-to-tir{stop-after=2}' | filecheck %s --check-prefix BEFORE
// RUN: opt-tool %s -p te-to-tir | filecheck %s
// Every block of threads has as many; those beyond the tail do nothing.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %bx, %tx = te.split %i [-1, 64]
  te.bind %bx "blockIdx.x"
  te.bind %tx "threadIdx.x"
}

// BEFORE-LABEL: tir.func @f(%n: index, %A: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %c_out: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
// BEFORE-NEXT:   tir.for %io = 0 to min [(%n + 63) floordiv 64] "C.i.0" {
// BEFORE-NEXT:     tir.for %ii = 0 to 64 min [%n + %io * -64] "C.i.1" {
// BEFORE-NEXT:       tir.block "C" {
// BEFORE-NEXT:         %a = tir.load %A[%ii + %io * 64] : memref<?xf32>
// BEFORE-NEXT:         tir.store %a, %c_out[%ii + %io * 64] : memref<?xf32>
// BEFORE-NEXT:       }
// BEFORE-NEXT:     }
// BEFORE-NEXT:   }
// BEFORE-NEXT: }

// CHECK-LABEL: tir.func @f(%n: index, %A: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %c_out: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64} {
// CHECK-NEXT:   tir.for %io = 0 to min [(%n + 63) floordiv 64] thread "blockIdx.x" "C.i.0" {
// CHECK-NEXT:     tir.for %ii = 0 to 64 thread "threadIdx.x" "C.i.1" {
// CHECK-NEXT:       tir.block "C" where [%n + %io * -64 + %ii * -1 - 1 >= 0] {
// CHECK-NEXT:         %a = tir.load %A[%ii + %io * 64] : memref<?xf32>
// CHECK-NEXT:         tir.store %a, %c_out[%ii + %io * 64] : memref<?xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }
