// RUN: opt-tool %s -p tir-to-llvm --verify-diagnostics --split-input-file

tir.func @f(%x: memref<4xi32>, %y: memref<4xi32>) attributes {outputs = 1 : i64} {
  %v = tir.load %x[0] : memref<4xi32>
  // expected-error@+1 {{tir-to-llvm: math.ipowi cannot stand in a kernel; `opt-tool --list-rules tir-to-llvm` lists what can}}
  %w = math.ipowi %v, %v : i32
  tir.store %w, %y[0] : memref<4xi32>
}

// -----

func.func @main(%x: memref<4xi32>, %y: memref<4xi32>) attributes {lamina.outputs = 1 : i64} {
  // expected-error@+1 {{tir-to-llvm: tir.copy cannot stand in @main}}
  tir.copy %x to %y : memref<4xi32>, memref<4xi32>
  func.return
}
