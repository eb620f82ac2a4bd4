// RUN: opt-tool %s -p relay-simplify-expr,relay-canonicalize-ops --fuel=4 --trace-rules -o %t 2>&1 | filecheck %s --check-prefix=CHECK-TRACE
// RUN: opt-tool %s -p relay-simplify-expr,relay-canonicalize-ops --fuel=0 | filecheck %s --check-prefix=CHECK-NONE
// RUN: opt-tool %s -p relay-simplify-expr,relay-canonicalize-ops --fuel=2 | filecheck %s --check-prefix=CHECK-TWO
// RUN: opt-tool %s -p relay-simplify-expr,relay-canonicalize-ops --fuel=4 | filecheck %s --check-prefix=CHECK-FOUR
// RUN: opt-tool %s -p relay-simplify-expr,relay-canonicalize-ops --fuel=5 | filecheck %s --check-prefix=CHECK-FIVE
// RUN: not opt-tool %s -p relay-simplify-expr --fuel=-1 2>&1 | filecheck %s --check-prefix=CHECK-NEGATIVE
// The first pass can fire four times, the second once; the firings are listed, as many as there were.

// CHECK-TRACE-COUNT-4:   simplify_expr.py:{{[0-9]+}} %{{[0-9]}} -> %
// CHECK-TRACE-NOT:       .py:{{[0-9]+}} %
// CHECK-NONE-COUNT-4:    relay.transpose
// CHECK-NONE-NEXT:       relay.nn.bias_add
// CHECK-TWO-COUNT-2:     relay.transpose
// CHECK-TWO-NEXT:        relay.nn.bias_add
// CHECK-FOUR:            func.func @main
// CHECK-FOUR-NEXT:       relay.nn.bias_add
// CHECK-FIVE:            func.func @main
// CHECK-FIVE-NEXT:       relay.add
// CHECK-NEGATIVE:        error: --fuel is a number of edits, not -1
func.func @main(%x: tensor<4x5xf32>, %b: tensor<5xf32>) -> tensor<4x5xf32> {
  %0 = relay.transpose %x {axes = [1, 0]} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = relay.transpose %0 {axes = [1, 0]} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %2 = relay.transpose %1 {axes = [1, 0]} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %3 = relay.transpose %2 {axes = [1, 0]} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  %4 = relay.nn.bias_add %3, %b : (tensor<4x5xf32>, tensor<5xf32>) -> tensor<4x5xf32>
  return %4 : tensor<4x5xf32>
}
