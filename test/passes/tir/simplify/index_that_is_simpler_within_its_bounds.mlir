// RUN: opt-tool %s -p tir-simplify | filecheck %s
// RUN: opt-tool %s -p tir-simplify --fuel=1 | filecheck %s --check-prefix=ONE
// Below 4 the quotient by 4 is nothing and the rest is all of it; each index is an edit of its own.

// CHECK:      %0 = tir.index [%i] : index
// CHECK-NEXT: %1 = tir.index [%i + %j] : index
// ONE:        tir.index [%i] : index
// ONE-NEXT:   tir.index [%i + %j floordiv 4 * 7 + %j]
tir.func @f(%y: memref<8x2xindex>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 "y.i" {
    tir.for %j = 0 to 3 "y.j" {
      %0 = tir.index [%i mod 4] : index
      %1 = tir.index [%i + %j floordiv 4 * 7 + %j] : index
      tir.store %0, %y[%i, 0] : memref<8x2xindex>
      tir.store %1, %y[%j, 1] : memref<8x2xindex>
    }
  }
}
