// There is no weights file: folding needs none.
// RUN: opt-tool %s -p relay-fold-constant | filecheck %s

// CHECK:      %t = relay.constant #relay.param<"w/negative/transpose", "{{[0-9a-f]+}}"> : tensor<32x64xf32>
// CHECK-NEXT: func.return %t
func.func @main() -> tensor<32x64xf32> {
  %w = relay.constant #relay.param<"w", "0123456789abcdef"> : tensor<64x32xf32>
  %n = relay.negative %w : tensor<64x32xf32>
  %t = relay.transpose %n {axes = [1, 0]} : (tensor<64x32xf32>) -> tensor<32x64xf32>
  return %t : tensor<32x64xf32>
}
