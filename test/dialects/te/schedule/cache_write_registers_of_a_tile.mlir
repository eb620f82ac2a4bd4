// RUN: opt-tool %s -p te-to-tir | filecheck %s
// The number of registers is not known where the stage is whole, but where it is a tile.

te.func @f(%n: index, %A: tensor<?x16xf32> {te.shape = #te.map<(d0) -> (d0, 16)>}) -> tensor<?x16xf32> {
  %c = te.compute "C" [%n, 16] (%i, %j) : tensor<?x16xf32> {
    %a = te.read %A[%i, %j] : tensor<?x16xf32>
    te.yield %a : f32
  }
  te.return %c : tensor<?x16xf32>
}
te.schedule @f {
  te.cache_write "C" scope "register"
  %i, %j = te.loops "C" [2]
  %io, %ii = te.split %i [-1, 8]
  %io2, %jo = te.reverse_compute_at "C.out" at %io [2]
}

// CHECK:      tir.for %io = 0 to min [(%n + 7) floordiv 8] "C.i.0" {
// CHECK-NEXT:   tir.alloc "C.register" scope "register" : memref<8x16xf32>
