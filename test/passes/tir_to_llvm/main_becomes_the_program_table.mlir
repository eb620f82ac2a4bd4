// RUN: opt-tool %s -p tir-to-llvm | filecheck %s
// Rows: kernel, extent, grain, first argument, number of arguments. Arguments: (base, byte offset), where the bases are
// status block, arena, inputs, outputs, parameters. The loop is too short to be shared: one grain is all of it.

builtin.module attributes {lamina.target = #lamina.target<triple = "x86_64-unknown-linux-gnu", cpu = "x86-64-v4",
    features = "+avx512f", vector_bits = 512, registers = 32, threads = 2>} {
  tir.func @f(%x: memref<64xf32>, %y: memref<64xf32>) attributes {outputs = 1 : i64} {
    tir.for %i = 0 to 64 parallel "y.i" {
      %v = tir.load %x[%i] : memref<64xf32>
      tir.store %v, %y[%i] : memref<64xf32>
    }
  }
  func.func @main(%x: memref<64xf32> {lamina.name = "data"}, %y: memref<64xf32> {lamina.name = "result"})
      attributes {lamina.outputs = 1 : i64} {
    %arena = tir.alloc "arena" scope "global" : memref<512xi8>
    %t = tir.view %arena[256] : memref<512xi8> to memref<64xf32>
    %w = tir.param #relay.param<"w", "00"> : memref<64xf32>
    tir.call @f(%w, %t) : memref<64xf32>, memref<64xf32>
    tir.call @f(%x, %y) : memref<64xf32>, memref<64xf32>
    func.return
  }
}

// CHECK: lamina.program = {name = "main", arena = 512 : i64,
// CHECK-SAME: inputs = [{name = "data", type = memref<64xf32>}]
// CHECK-SAME: outputs = [{name = "result", type = memref<64xf32>}]
// CHECK-SAME: params = [#relay.param<"w", "00">]
// CHECK: llvm.mlir.global external constant @main.program()
// CHECK-NEXT: [[T0:%.+]] = llvm.mlir.poison
// CHECK-NEXT: [[F:%.+]] = llvm.mlir.addressof @f : !llvm.ptr
// CHECK-NEXT: [[EXTENT:%.+]] = llvm.mlir.constant(64) : i64
// CHECK-NEXT: [[FIRST:%.+]] = llvm.mlir.constant(0) : i64
// CHECK-NEXT: [[NUMBER:%.+]] = llvm.mlir.constant(2) : i64
// CHECK-NEXT: [[LIMIT:%.+]] = llvm.mlir.zero : !llvm.ptr
// CHECK-NEXT: [[T1:%.+]] = llvm.insertvalue [[F]], [[T0]][0, 0]
// CHECK-NEXT: [[T2:%.+]] = llvm.insertvalue [[EXTENT]], [[T1]][0, 1]
// CHECK-NEXT: [[T3:%.+]] = llvm.insertvalue [[EXTENT]], [[T2]][0, 2]
// CHECK-NEXT: [[T4:%.+]] = llvm.insertvalue [[FIRST]], [[T3]][0, 3]
// CHECK-NEXT: [[T5:%.+]] = llvm.insertvalue [[NUMBER]], [[T4]][0, 4]
// CHECK-NEXT: [[T6:%.+]] = llvm.insertvalue [[LIMIT]], [[T5]][0, 5]
// The second row's arguments start after the two of the first.
// CHECK: llvm.insertvalue [[NUMBER]], %{{.+}}[1, 3]
// CHECK: llvm.mlir.global external constant @main.arguments(dense<{{\[\[}}4, 0], [1, 256], [2, 0], [3, 0{{\]\]}}>
// CHECK-NOT: func.func @main
