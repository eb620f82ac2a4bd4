// RUN: opt-tool %s -p tir-demote-registers | filecheck %s
// RUN: opt-tool %s -p tir-demote-registers,tir-to-llvm | filecheck %s --check-prefix=LLVM
// A loop that stays a loop cannot name registers: its buffer goes to the stack.

// CHECK-LABEL: tir.func @turned
// CHECK-NEXT: %t = tir.alloc "t" scope "local" : memref<4xf32>
// LLVM-LABEL: llvm.func internal @turned.body
// LLVM: llvm.alloca
tir.func @turned(%X: memref<4xf32>, %y: memref<4xf32>) attributes {outputs = 1 : i64} {
  %t = tir.alloc "t" scope "register" : memref<4xf32>
  tir.for %i = 0 to 4 "t.i" {
    %x = tir.load %X[%i] : memref<4xf32>
    tir.store %x, %t[%i] : memref<4xf32>
  }
  tir.for %i = 0 to 4 "y.i" {
    %x = tir.load %t[3 - %i] : memref<4xf32>
    tir.store %x, %y[%i] : memref<4xf32>
  }
}
