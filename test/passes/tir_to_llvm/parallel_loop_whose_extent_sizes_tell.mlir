// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// The row of a parallel loop that a size ends has no extent, but a function that tells the runner: threads share the
// iterations that there are, and few of them, as a grain says, are not shared. Other rows have their extent.

builtin.module {
  tir.func @open(%n: index, %x: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0 * 2 + 1, 8)>}, %y: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0 * 2 + 1, 8)>}) attributes {outputs = 1 : i64} {
    tir.for %i = 0 to min [%n * 2 + 1] parallel "y.i" {
      tir.for %j = 0 to 8 "y.j" {
        %a = tir.load %x[%i, %j] : memref<?x8xf32>
        tir.store %a, %y[%i, %j] : memref<?x8xf32>
      }
    }
  }
  tir.func @known(%x: memref<16x8xf32>, %y: memref<16x8xf32>) attributes {outputs = 1 : i64} {
    tir.for %i = 0 to 16 parallel "y.i" {
      tir.for %j = 0 to 8 "y.j" {
        %a = tir.load %x[%i, %j] : memref<16x8xf32>
        tir.store %a, %y[%i, %j] : memref<16x8xf32>
      }
    }
  }
  func.func @main(%n: index, %x: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0 * 2 + 1, 8)>}, %u: memref<16x8xf32>, %y: memref<?x8xf32> {te.shape = #te.map<(d0) -> (d0 * 2 + 1, 8)>}, %v: memref<16x8xf32>) attributes {lamina.outputs = 2 : i64} {
    tir.call @open(%n, %x, %y) : index, memref<?x8xf32>, memref<?x8xf32>
    tir.call @known(%u, %v) : memref<16x8xf32>, memref<16x8xf32>
    func.return
  }
}

// CHECK:      llvm.func @open.extent(%[[ARGS:.*]]: !llvm.ptr) -> i64 {
// CHECK:        %[[AT:.*]] = llvm.load %[[ARGS]] : !llvm.ptr -> !llvm.ptr
// CHECK-NEXT:   %[[N:.*]] = llvm.load %[[AT]] {alignment = 8 : i64} : !llvm.ptr -> i64
// CHECK-NEXT:   %[[TWICE:.*]] = llvm.mul %[[N]], %{{.*}} : i64
// CHECK-NEXT:   %[[ALL:.*]] = llvm.add %[[TWICE]], %{{.*}} : i64
// CHECK-NEXT:   llvm.return %[[ALL]] : i64
// CHECK-NOT:  @known.extent
// CHECK:      llvm.mlir.global external constant @main.program
// CHECK:        %[[LIMIT:.*]] = llvm.mlir.addressof @open.extent : !llvm.ptr
// CHECK:        llvm.insertvalue %[[LIMIT]], %{{.*}}[0, 5]
// CHECK:        %[[NONE:.*]] = llvm.mlir.zero : !llvm.ptr
// CHECK:        llvm.insertvalue %[[NONE]], %{{.*}}[1, 5]
