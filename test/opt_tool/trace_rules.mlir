// RUN: opt-tool %s -p relay-simplify-expr --trace-rules -o %t 2>&1 | filecheck %s

// CHECK: simplify_expr.py:{{[0-9]+}} %1 -> %{{.*}}
// CHECK: relay-simplify-expr: {{[0-9]+}} rewrites
func.func @main(%x: tensor<4x5xf32>) -> tensor<4x5xf32> {
  %0 = relay.transpose %x {axes = [1, 0]} : (tensor<4x5xf32>) -> tensor<5x4xf32>
  %1 = relay.transpose %0 {axes = [1, 0]} : (tensor<5x4xf32>) -> tensor<4x5xf32>
  return %1 : tensor<4x5xf32>
}
