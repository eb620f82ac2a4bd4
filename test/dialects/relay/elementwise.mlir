// RUN: opt-tool %s --verify-roundtrip | filecheck %s

// One type where all agree, a functional type elsewhere; attributes at their default are not printed.
func.func @elementwise(%x: tensor<2x3xf32>, %n: tensor<4xi32>) {
  // CHECK: relay.exp %x : tensor<2x3xf32>
  %0 = relay.exp %x : tensor<2x3xf32>
  // CHECK: relay.isnan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  %1 = relay.isnan %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
  // CHECK: relay.clip %x {a_max = 6.0, a_min = 0.0} : tensor<2x3xf32>
  %2 = relay.clip %x {a_min = 0.0, a_max = 6.0} : tensor<2x3xf32>
  // CHECK: relay.clip %x {a_max = 0x7FF0000000000000, a_min = -1.5e-07} : tensor<2x3xf32>
  %3 = relay.clip %x {a_min = -1.5e-07, a_max = 0x7FF0000000000000} : tensor<2x3xf32>
  // CHECK: relay.cast %n {dtype = "float16"} : (tensor<4xi32>) -> tensor<4xf16>
  %4 = relay.cast %n {dtype = "float16"} : (tensor<4xi32>) -> tensor<4xf16>
  // CHECK: relay.negative %n {lamina.note = "kept"} : tensor<4xi32>
  %5 = relay.negative %n {lamina.note = "kept"} : tensor<4xi32>
  func.return
}
