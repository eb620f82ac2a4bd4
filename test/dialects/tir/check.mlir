// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-to-llvm | filecheck %s --check-prefix LLVM
// A value that is only good where its condition holds: a kernel that meets another leaves the number of the message.

tir.func @f(%x: memref<8xi32>, %y: memref<8xi32>) {
  tir.for %i = 0 to 8 "y.i" {
    %v = tir.load %x[%i] : memref<8xi32>
    %zero = arith.constant 0 : i32
    %ok = arith.cmpi ne, %v, %zero : i32
    %d = tir.check %v, %ok "integer division by zero" : i32
    tir.store %d, %y[%i] : memref<8xi32>
  }
}

// CHECK: %d = tir.check %v, %ok "integer division by zero" : i32
// LLVM: %{{[0-9]+}} = llvm.icmp "ne" %v, %zero : i32
// LLVM: llvm.intr.masked.store %{{[0-9]+}}, %status, %{{[0-9]+}} {alignment = 8 : i32} : vector<1xi64>, vector<1xi1> into !llvm.ptr
