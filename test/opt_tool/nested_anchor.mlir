// RUN: opt-tool %s --pass-pipeline='builtin.module(func.func(cse),canonicalize)' --dump-pass-pipeline 2>&1 | filecheck %s
// RUN: opt-tool %s -p 'func.func(canonicalize)' | filecheck %s --check-prefix=INNER

// CHECK: builtin.module(func.func(cse),canonicalize)

// CHECK-LABEL: func.func @twice
// CHECK-NEXT: %y = arith.addi %x, %x : i32
// CHECK-NEXT: %z = arith.muli %y, %y : i32
// CHECK-NEXT: func.return %z : i32
// INNER-LABEL: func.func @twice
// INNER: arith.addi
// INNER: arith.addi
func.func @twice(%x: i32) -> i32 {
  %y = arith.addi %x, %x : i32
  %y2 = arith.addi %x, %x : i32
  %z = arith.muli %y, %y2 : i32
  return %z : i32
}
