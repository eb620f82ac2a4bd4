// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The copy ends where the tile does, and does not read what lies before the first element.

te.func @f(%n: index, %A: tensor<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) -> tensor<?xf32> {
  %b = te.compute "B" [%n] (%i) : tensor<?xf32> {
    %a = te.read %A[%i] : tensor<?xf32>
    te.yield %a : f32
  }
  %c = te.compute "C" [%n] (%i) : tensor<?xf32> {
    %x = te.read %b[%i - 1] where [%i - 1 >= 0] : tensor<?xf32>
    %y = te.read %b[%i + 1] where [%n - %i - 2 >= 0] : tensor<?xf32>
    %s = arith.addf %x, %y : f32
    te.yield %s : f32
  }
  te.return %c : tensor<?xf32>
}
te.schedule @f {
  %i = te.loops "C" [1]
  %o, %p = te.split %i [-1, 4]
  %t = te.compute_at "B" at %o [1]
  %u = te.cache_read "B" in "C" at %p scope "local" [1]
}
// CHECK:      %B = tir.alloc "B" scope "global" : memref<6xf32>
// CHECK-NEXT: tir.for %i = 0 to 6 min [%n + %io * -4 + 1] "B.i" {
// CHECK:      %B_local = tir.alloc "B.local" scope "local" : memref<3xf32>
// CHECK-NEXT: tir.for %B0 = 0 to 3 min [%n + %io * -4 + %ii * -1 + 1] "B.local.0" {
// CHECK-NEXT:   tir.block "B.local" {
// CHECK-NEXT:     %{{.*}} = tir.load %B[%ii + %B0] where [%io * 4 + %ii + %B0 - 1 >= 0] : memref<6xf32>
