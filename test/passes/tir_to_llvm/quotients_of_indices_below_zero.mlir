// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// An index that goes below zero is rounded down: its remainder gets the divisor where it is negative. One that
// never is below zero is divided at once.

tir.func @f(%x: memref<8xf32>, %y: memref<8xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 8 "i" {
    %a = tir.load %x[(%i * -1 + 1) floordiv 4 + 2] : memref<8xf32>
    tir.store %a, %y[(%i + 3) mod 8] : memref<8xf32>
  }
}
// CHECK:      %[[X:.*]] = llvm.add %{{.*}}, %{{.*}} : i64
// CHECK:      %[[R:.*]] = llvm.srem %[[X]], %{{.*}} : i64
// CHECK:      llvm.icmp "slt" %[[R]]
// CHECK:      llvm.select
// CHECK:      llvm.sdiv
// CHECK-NOT:  llvm.udiv
// CHECK:      llvm.urem
