// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// A kernel of a size: buffers in, the last one out.

tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) {
  tir.for %i = 0 to min [%n] "y.i" {
    %v = tir.load %x[%i] : memref<?xf32>
    tir.store %v, %y[%i] : memref<?xf32>
  }
}

// CHECK: tir.func @f(%n: index, %x: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}, %y: memref<?xf32> {te.shape = #te.map<(d0) -> (d0)>}) attributes {outputs = 1 : i64}
// LLVM: llvm.func internal @f.body(%n: i64, %x: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr {llvm.noalias}
// LLVM: %{{[0-9]+}} = llvm.icmp "slt" %{{[0-9]+}}, %n : i64
// LLVM: llvm.func @f(%args: !llvm.ptr, %lo_1: i64, %hi_1: i64, %thread: i64)
