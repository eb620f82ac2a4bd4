// RUN: opt-tool %s --verify-roundtrip | filecheck %s
// RUN: opt-tool %s -p tir-plan-memory | filecheck %s --check-prefix AFTER
// One buffer into another; a copy in @main becomes a kernel.

func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {lamina.outputs = 1 : i64} {
  tir.copy %x to %y : memref<8xf32>, memref<8xf32>
  func.return
}

// CHECK: tir.copy %x to %y : memref<8xf32>, memref<8xf32>
// AFTER: tir.func @copy_0(%{{[0-9]+}}: memref<8xf32>, %{{[0-9]+}}: memref<8xf32>) attributes {outputs = 1 : i64}
// AFTER: tir.call @copy_0(%x, %y) : memref<8xf32>, memref<8xf32>
