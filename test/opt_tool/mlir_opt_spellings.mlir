// RUN: opt-tool %s --canonicalize --cse --mlir-print-ir-before=cse -o %t 2>&1 | filecheck %s --check-prefix=CHECK-BEFORE
// RUN: opt-tool %s --canonicalize --cse -mlir-print-ir-after cse,canonicalize -o %t 2>&1 | filecheck %s --check-prefix=CHECK-AFTER
// RUN: opt-tool %s --canonicalize --cse --mlir-print-ir-before-all -o %t 2>&1 | filecheck %s --check-prefix=CHECK-BEFORE-ALL
// RUN: opt-tool %s --canonicalize --cse --mlir-print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=CHECK-AFTER
// RUN: opt-tool %s --cse --mlir-print-ir-after-all --mlir-print-ir-tree-dir=%t.dir -o %t && opt-tool %t.dir/00_cse.mlir | filecheck %s --check-prefix=CHECK-FILE
// RUN: opt-tool %s --mlir-print-op-generic --mlir-print-debuginfo | filecheck %s --check-prefix=CHECK-GENERIC
// RUN: opt-tool %s --mlir-elide-elementsattrs-if-larger=2 | filecheck %s --check-prefix=CHECK-ELIDED
// RUN: opt-tool %s --mlir-elide-elementsattrs-if-larger 2 | filecheck %s --check-prefix=CHECK-ELIDED
// RUN: opt-tool %s --cse --mlir-timing -o %t 2>&1 | filecheck %s --check-prefix=CHECK-TIMING
// RUN: opt-tool %s --cse --mlir-pass-statistics -o %t 2>&1 | filecheck %s --check-prefix=CHECK-STATISTICS

// CHECK-BEFORE-NOT: IR Dump Before canonicalize
// CHECK-BEFORE:     IR Dump Before cse
// CHECK-AFTER:      IR Dump After canonicalize
// CHECK-AFTER:      IR Dump After cse
// CHECK-BEFORE-ALL: IR Dump Before canonicalize
// CHECK-BEFORE-ALL: IR Dump Before cse
// CHECK-FILE:       %c = arith.muli %a, %a
// CHECK-GENERIC:    "arith.addi"(%x, %x) {{.*}} loc("{{.*}}mlir_opt_spellings.mlir"
// CHECK-ELIDED:     dense_resource<__elided__>
// CHECK-TIMING:     (100.0%) Total
// CHECK-STATISTICS: ... Pass statistics report ...
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  return %c : i32
}
func.func private @g() attributes {a = dense<[1, 2, 3]> : tensor<3xi32>}
