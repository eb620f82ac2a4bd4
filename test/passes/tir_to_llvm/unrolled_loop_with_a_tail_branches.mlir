// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// The iterations that every trip has need no branch.

// CHECK-LABEL: llvm.func internal @f.body
// CHECK:       %[[N:.*]] = llvm.load
// CHECK:       llvm.store %[[N]]
// CHECK-NOT:   llvm.cond_br
// CHECK:       llvm.load
// CHECK:       llvm.store
// CHECK-NEXT:  llvm.cond_br %{{.*}}, ^[[THEN:bb[0-9]+]], ^[[JOIN:bb[0-9]+]]
// CHECK-NEXT:  ^[[THEN]]:
// CHECK:         llvm.store
// CHECK-NEXT:    llvm.br ^[[JOIN]]
// CHECK-NEXT:  ^[[JOIN]]:
tir.func @f(%x: memref<10xf32>, %y: memref<10xf32>) attributes {outputs = 1 : i64} {
  tir.for %o = 0 to 3 "y.0" {
    tir.for %i = 0 to 4 min [%o * -4 + 10] unrolled "y.1" {
      %v = tir.load %x[%o * 4 + %i] : memref<10xf32>
      tir.store %v, %y[%o * 4 + %i] : memref<10xf32>
    }
  }
}
