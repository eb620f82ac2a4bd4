// RUN: opt-tool %s --relay-simplify-expr --cse --pass-statistics -o %t 2>&1 | filecheck %s
// RUN: opt-tool %s --pass-pipeline='builtin.module(func.func(cse))' --pass-statistics --split-input-file -o %t 2>&1 | filecheck %s --check-prefix=CHECK-NESTED

// Rules that are counted are not traced.
// CHECK-NOT: ->
// CHECK:      {{^}}===-{{-+}}-==={{$}}
// CHECK-NEXT:              ... Pass statistics report ...
// CHECK:      relay-simplify-expr
// CHECK-NEXT:   (S) 14 ops before
// CHECK-NEXT:   (S) 12 ops after
// CHECK-NEXT:   (S)  2 edits
// CHECK-NEXT:   (S)  1 fired simplify_expr.py:{{[0-9]+}}
// CHECK-NEXT:   (S)  1 fired simplify_expr.py:{{[0-9]+}}
// CHECK-NEXT: cse
// CHECK-NEXT:   (S) 12 ops before
// CHECK-NEXT:   (S) 11 ops after

// A pass that runs on several ops, of several pieces, has one row.
// CHECK-NESTED:      cse on func.func
// CHECK-NESTED-NEXT:   (S) 13 ops before
// CHECK-NESTED-NEXT:   (S) 12 ops after
func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = relay.transpose %x {axes = [1, 0]} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = relay.transpose %0 {axes = [1, 0]} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
func.func @twice(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  %c = arith.muli %a, %b : i32
  return %c : i32
}
// -----
func.func @other(%x: i32, %y: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %a, %y : i32
  return %b : i32
}
