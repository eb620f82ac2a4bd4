// RUN: opt-tool %s -p te-to-tir | filecheck %s
// An intermediate of unknown size, copied for one of its readers and then moved into that reader's loop.

te.func @f(%n: index, %A: tensor<?x8xf32> {te.shape = #te.map<(d0) -> (d0, 8)>}) -> tensor<?x8xf32> {
  %b = te.compute "B" [%n, 8] (%i, %j) : tensor<?x8xf32> {
    %a = te.read %A[%i, %j] : tensor<?x8xf32>
    %s = arith.addf %a, %a : f32
    te.yield %s : f32
  }
  %c = te.compute "C" [%n, 8] (%i, %j) : tensor<?x8xf32> {
    %x = te.read %b[%i, %j] : tensor<?x8xf32>
    %y = te.read %b[%i, 7 - %j] : tensor<?x8xf32>
    %s = arith.subf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<?x8xf32>
}
te.schedule @f {
  %u, %v = te.cache_read "B" in "C" scope "local" [2]
  %i, %j = te.loops "C" [2]
  %p, %q = te.compute_at "B.local" at %i [2]
}

// CHECK-LABEL: tir.func @f(%n: index, %A: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0, 8)>}, %c_out: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0, 8)>}) attributes {outputs = 1 : i64} {
// CHECK-NEXT:       %B = tir.alloc "B" scope "global" [%n, 8] : memref<?x8xf32>
// CHECK-NEXT:       tir.for %i = 0 to min [%n] "B.i" {
// CHECK-NEXT:         tir.for %j = 0 to 8 "B.j" {
// CHECK-NEXT:           tir.block "B" {
// CHECK-NEXT:             %a = tir.load %A[%i, %j] : memref<?x8xf32>
// CHECK-NEXT:             %s = arith.addf %a, %a : f32
// CHECK-NEXT:             tir.store %s, %B[%i, %j] : memref<?x8xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:       tir.for %i = 0 to min [%n] "C.i" {
// CHECK-NEXT:         %B_local = tir.alloc "B.local" scope "local" : memref<1x8xf32>
// CHECK-NEXT:         tir.for %B0 = 0 to 1 min [%n + %i * -1] "B.local.0" {
// CHECK-NEXT:           tir.for %B1 = 0 to 8 "B.local.1" {
// CHECK-NEXT:             tir.block "B.local" {
// CHECK-NEXT:               %0 = tir.load %B[%i + %B0, %B1] : memref<?x8xf32>
// CHECK-NEXT:               tir.store %0, %B_local[%B0, %B1] : memref<1x8xf32>
// CHECK-NEXT:             }
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:         tir.for %j = 0 to 8 "C.j" {
// CHECK-NEXT:           tir.block "C" {
// CHECK-NEXT:             %x = tir.load %B_local[0, %j] : memref<1x8xf32>
// CHECK-NEXT:             %y = tir.load %B_local[0, %j * -1 + 7] : memref<1x8xf32>
// CHECK-NEXT:             %s = arith.subf %x, %y : f32
// CHECK-NEXT:             tir.store %s, %c_out[%i, %j] : memref<?x8xf32>
// CHECK-NEXT:           }
// CHECK-NEXT:         }
// CHECK-NEXT:       }
// CHECK-NEXT:     }
