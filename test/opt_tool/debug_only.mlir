// RUN: opt-tool %s --relay-simplify-expr --relay-fold-transpose --debug-only=relay-simplify-expr -o %t 2>&1 | filecheck %s
// RUN: opt-tool %s --relay-simplify-expr --debug-only=cse,relay-fold-transpose --print-op-stats -o %t 2>&1 | filecheck %s --check-prefix=CHECK-OTHER

// CHECK:     simplify_expr.py:{{[0-9]+}} %1 -> %2
// CHECK:     relay-simplify-expr: {{[0-9]+}} rewrites
// CHECK-OTHER-NOT: simplify_expr.py
// CHECK-OTHER:     Operations encountered
func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = relay.transpose %x {axes = [1, 0]} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = relay.transpose %0 {axes = [1, 0]} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
