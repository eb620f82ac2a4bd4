// RUN: opt-tool %s -p relay-fold-constant | filecheck %s --check-prefix STAY
// RUN: opt-tool %s -p 'relay-fold-constant{fold-qnn=true}' | filecheck %s
// Patterns of external code generators look for quantize and dequantize of weights, so they stay unless asked for.

func.func @main() -> tensor<3xi8> {
  %w = relay.constant dense<[0.5, -1.0, 100.0]> : tensor<3xf32>
  %s = relay.constant dense<0.25> : tensor<f32>
  %z = relay.constant dense<1> : tensor<i32>
  %q = relay.qnn.quantize %w, %s, %z : (tensor<3xf32>, tensor<f32>, tensor<i32>) -> tensor<3xi8>
  return %q : tensor<3xi8>
}

// STAY:       %q = relay.qnn.quantize %w, %s, %z

// CHECK:      %q = relay.constant dense<[3, -3, 127]> : tensor<3xi8>
// CHECK-NEXT: func.return %q
