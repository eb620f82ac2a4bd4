// RUN: opt-tool %s -p tir-plan-memory | filecheck %s
// RUN: opt-tool %s -p tir-plan-memory,tir-to-llvm | filecheck %s --check-prefix=LLVM
// @add reads its operands where it writes its result, and %t is needed by nobody else: %s goes there. @turn reads
// elsewhere than it writes, so that %r has a place of its own; and %s is still needed when the second @add runs.

tir.func @add(%a: memref<64xf32>, %b: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 4 parallel "y.i" {
    %v = tir.load %a[%i * 16 + lane] : memref<64xf32>, vector<16xf32>
    %w = tir.load %b[%i * 16 + lane] : memref<64xf32>, vector<16xf32>
    %s = arith.addf %v, %w : vector<16xf32>
    tir.store %s, %y[%i * 16 + lane] : memref<64xf32>, vector<16xf32>
  }
}
tir.func @turn(%a: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
  tir.for %i = 0 to 64 parallel "y.i" {
    %v = tir.load %a[%i * -1 + 63] : memref<64xf32>
    tir.store %v, %y[%i] : memref<64xf32>
  }
}
func.func @main(%x: memref<64xf32>, %y: memref<64xf32>) attributes {lamina.outputs = 1 : i64} {
  %t = tir.alloc "t" scope "global" : memref<64xf32>
  tir.call @turn(%x, %t) : memref<64xf32>, memref<64xf32>
  %s = tir.alloc "s" scope "global" : memref<64xf32>
  tir.call @add(%t, %x, %s) : memref<64xf32>, memref<64xf32>, memref<64xf32>
  %r = tir.alloc "r" scope "global" : memref<64xf32>
  tir.call @turn(%s, %r) : memref<64xf32>, memref<64xf32>
  %u = tir.alloc "u" scope "global" : memref<64xf32>
  tir.call @add(%s, %x, %u) : memref<64xf32>, memref<64xf32>, memref<64xf32>
  tir.call @add(%r, %u, %y) : memref<64xf32>, memref<64xf32>, memref<64xf32>
  func.return
}
// CHECK: tir.func @add({{.*}} attributes {outputs = 1 : i64, shared = array<i64: 0, 2>}
// CHECK: tir.func @turn({{.*}} attributes {outputs = 1 : i64} {
// CHECK: tir.alloc "arena" scope "global" : memref<512xi8>
// CHECK: %t = tir.view %arena[0]
// CHECK: %s = tir.view %arena[0]
// CHECK: %r = tir.view %arena[256]
// CHECK: %u = tir.view %arena[0]
// LLVM: @add.body(%a: !llvm.ptr, %b: !llvm.ptr {llvm.noalias}, %y: !llvm.ptr, %lo: i64, %hi: i64)
// LLVM: @turn.body(%{{[a-z0-9_]+}}: !llvm.ptr {llvm.noalias}, %{{[a-z0-9_]+}}: !llvm.ptr {llvm.noalias},
