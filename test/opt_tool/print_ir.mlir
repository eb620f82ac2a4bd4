// RUN: opt-tool %s -p canonicalize,cse --print-ir-before=cse -o %t 2>&1 | filecheck %s --check-prefix=BEFORE
// RUN: opt-tool %s -p canonicalize,cse --print-ir-after-all -o %t 2>&1 | filecheck %s --check-prefix=ALL
// RUN: opt-tool %s -p canonicalize,cse --print-ir-after-change -o %t 2>&1 | filecheck %s --check-prefix=CHANGE
// RUN: opt-tool %s -p canonicalize,cse --print-ir-diff -o %t 2>&1 | filecheck %s --check-prefix=DIFF
// RUN: opt-tool %s -p cse,dce --print-ir-tree-dir=%t.dir -o %t && opt-tool %t.dir/00_cse.mlir | filecheck %s --check-prefix=TREE

// BEFORE-NOT: canonicalize
// BEFORE: IR Dump Before cse
// BEFORE: func.func @f
// ALL: IR Dump After canonicalize
// ALL: IR Dump After cse
// CHANGE-NOT: After canonicalize
// CHANGE: IR Dump After cse
// DIFF: --- before cse
// DIFF-NEXT: +++ after cse
// DIFF: -    %z = arith.muli %y, %y2 : i32
// DIFF-NEXT: +    %z = arith.muli %y, %y : i32
// TREE: arith.muli %y, %y : i32
func.func @f(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  %y2 = arith.addi %x, %x : i32
  %z = arith.muli %y, %y2 : i32
  return %z : i32
}
