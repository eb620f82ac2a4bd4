// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// Ten iterations in rows of four: the last row ends at the bound.

tir.func @f(%x: memref<10xf32>, %y: memref<10xf32>) {
  tir.for %io = 0 to 3 "y.0" {
    tir.for %ii = 0 to 4 min [%io * -4 + 10] "y.1" {
      %v = tir.load %x[%io * 4 + %ii] : memref<10xf32>
      tir.store %v, %y[%io * 4 + %ii] : memref<10xf32>
    }
  }
}

// CHECK: tir.for %io = 0 to 3 "y.0"
// LLVM: llvm.br ^bb1(%{{[0-9]+}} : i64)
// LLVM: %{{[0-9]+}} = llvm.intr.smin(%{{[0-9]+}}, %{{[0-9]+}}) : (i64, i64) -> i64
// LLVM: llvm.cond_br %{{[0-9]+}}, ^bb2(%{{[0-9]+}} : i64), ^bb3
// LLVM: llvm.cond_br %{{[0-9]+}}, ^bb1(%{{[0-9]+}} : i64), ^bb4
