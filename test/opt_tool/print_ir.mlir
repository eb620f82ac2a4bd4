// RUN: opt-tool %s -p canonicalize,cse --print-ir-before=cse -o %t 2>&1 | filecheck %s --check-prefix=CHECK-BEFORE
// RUN: opt-tool %s -p canonicalize,cse --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=CHECK-ALL
// RUN: opt-tool %s -p canonicalize,cse --print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix=CHECK-CHANGE
// RUN: opt-tool %s -p canonicalize,cse --print-ir-diff -o %t 2>&1 | filecheck %s --check-prefix=CHECK-DIFF
// RUN: opt-tool %s -p cse,dce --print-ir-tree-dir=%t.dir -o %t && opt-tool %t.dir/00_cse.mlir | filecheck %s --check-prefix=CHECK-TREE

// CHECK-BEFORE-NOT: canonicalize
// CHECK-BEFORE: IR Dump Before cse
// CHECK-BEFORE: func.func @f
// CHECK-ALL: IR Dump After canonicalize
// CHECK-ALL: IR Dump After cse
// CHECK-CHANGE-NOT: After canonicalize
// CHECK-CHANGE: IR Dump After cse
// CHECK-DIFF: --- before cse
// CHECK-DIFF-NEXT: +++ after cse
// CHECK-DIFF: -    %z = arith.muli %y, %y2 : i32
// CHECK-DIFF-NEXT: +    %z = arith.muli %y, %y : i32
// CHECK-TREE: arith.muli %y, %y : i32
func.func @f(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  %y2 = arith.addi %x, %x : i32
  %z = arith.muli %y, %y2 : i32
  return %z : i32
}
