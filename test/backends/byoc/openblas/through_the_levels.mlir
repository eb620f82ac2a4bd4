// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s --check-prefix=CHECK-TE
// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te,te-to-tir,tir-lower-blocks,tir-plan-memory | filecheck %s --check-prefix=CHECK-TIR
// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te,te-to-tir,tir-lower-blocks,tir-plan-memory,tir-to-llvm | filecheck %s --check-prefix=CHECK-LLVM
// A function that a backend has compiled is a declaration down to the program table, where its row has no kernel.

// CHECK-TE:      te.call @tvmgen_default_openblas_main_0(%e) : (tensor<1x8xf32>) -> tensor<1x4xf32>
// CHECK-TE:      func.func private @tvmgen_default_openblas_main_0(tensor<1x8xf32>) -> tensor<1x4xf32> attributes {Compiler = "openblas"

// CHECK-TIR:      %arena = tir.alloc "arena"
// CHECK-TIR:      tir.call @fused_exp(%x, %e)
// CHECK-TIR-NEXT: tir.call @tvmgen_default_openblas_main_0(%e, %[[OUT:.*]]) : memref<1x8xf32>, memref<1x4xf32>
// CHECK-TIR:      func.func private @tvmgen_default_openblas_main_0(memref<1x8xf32>, memref<1x4xf32>) -> () attributes {Compiler = "openblas", {{.*}}outputs = 1 : i64}

// CHECK-LLVM:     params = [#relay.param<"w">]
// CHECK-LLVM-SAME: external = [{name = "tvmgen_default_openblas_main_0", compiler = "openblas", code = "{}", constants = [0 : i64], arguments = [memref<1x8xf32>, memref<1x4xf32>], outputs = 1 : i64}]
// CHECK-LLVM-SAME: calls = [array<i64: 1, 0, 1, 0, 3, 0>]
// CHECK-LLVM:     llvm.mlir.global {{.*}} @main.program
// CHECK-LLVM:     llvm.mlir.addressof @fused_exp
// CHECK-LLVM:     llvm.mlir.zero : !llvm.ptr
// CHECK-LLVM-NOT: func.func private
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x4xf32> {
  %e = relay.exp %x : tensor<1x8xf32>
  %y = func.call @tvmgen_default_openblas_main_0(%e) : (tensor<1x8xf32>) -> tensor<1x4xf32>
  return %y : tensor<1x4xf32>
}
func.func private @tvmgen_default_openblas_main_0(tensor<1x8xf32>) -> tensor<1x4xf32> attributes {Compiler = "openblas", code = "{}", constants = [#relay.param<"w">]}
