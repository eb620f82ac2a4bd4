// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Loops count, and places are computed, in 32 bits where pointers have so many; what a program computes with has 64, and
// in 64 it is computed where 32 do not hold it. The stack of a processor without a system is not realigned.

builtin.module attributes {lamina.target = #lamina.target<triple = "thumbv7em-unknown-none-eabihf", cpu = "cortex-m4", features = "+vfp4d16sp", vector_bits = 32, registers = 16, threads = 1>} {
  tir.func @f(%x: memref<40xi64>, %y: memref<40xi64>) attributes {outputs = 1 : i64} {
    tir.for %i = 0 to 4 parallel "y.i" {
      tir.for %j = 0 to 10 "y.j" {
        %n = tir.index [%i * 10 + %j] : index
        %m = tir.index [%i * 4000000000 + %j] : index
        %p = arith.addi %n, %m : index
        %q = arith.index_cast %p : index to i64
        tir.store %q, %y[%i * 10 + %j] : memref<40xi64>
      }
    }
  }
}

// CHECK:      llvm.func internal @f.body(%y: !llvm.ptr {llvm.noalias}, %lo: i64, %hi: i64) attributes {passthrough = ["noinline", "nounwind"]} {
// CHECK-DAG:    llvm.trunc %lo : i64 to i32
// CHECK-DAG:    llvm.trunc %hi : i64 to i32
// CHECK:      ^bb1(%i: i32):
// CHECK:      ^bb2(%j: i32):
// CHECK:        %[[N:.*]] = llvm.add %{{.*}}, %j : i32
// CHECK:        llvm.getelementptr %{{.*}}[%j] : (!llvm.ptr, i32) -> !llvm.ptr, i64
// CHECK:        llvm.sext %[[N]] : i32 to i64
// CHECK:        %[[I:.*]] = llvm.sext %i : i32 to i64
// CHECK:        llvm.mul %[[I]], %{{.*}} : i64
// CHECK:        llvm.icmp "slt" %{{.*}}, %{{.*}} : i32
