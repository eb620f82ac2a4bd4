// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics

tir.func @f(%x: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[0] : memref<4xi32>
  // expected-error@+1 {{tir-to-llvm has no llvm op for arith.ceildivsi}}
  %w = arith.ceildivsi %v, %v : i32
  tir.store %w, %y[0] : memref<4xi32>
}
