// RUN: opt-tool %s -p relay-simplify-expr | filecheck %s

// CHECK-LABEL: @lossy
// CHECK-COUNT-2: relay.cast
func.func @lossy(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = relay.cast %x {dtype = "float16"} : (tensor<4xf32>) -> tensor<4xf16>
  %b = relay.cast %a {dtype = "float32"} : (tensor<4xf16>) -> tensor<4xf32>
  return %b : tensor<4xf32>
}

// The inner clip is needed anyway, so nothing would be saved.
// CHECK-LABEL: @shared
// CHECK-COUNT-2: relay.clip
func.func @shared(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %a = relay.clip %x {a_min = 0.0, a_max = 6.0} : tensor<4xf32>
  %b = relay.clip %a {a_min = 1.0, a_max = 3.0} : tensor<4xf32>
  return %a, %b : tensor<4xf32>, tensor<4xf32>
}
