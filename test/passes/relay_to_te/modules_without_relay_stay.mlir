// RUN: opt-tool %s -p relay-to-te | filecheck %s

func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// CHECK-LABEL: func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
// CHECK-NEXT:   func.return %x : tensor<4xf32>
// CHECK-NEXT: }
