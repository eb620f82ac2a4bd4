// RUN: opt-tool %s --verify-roundtrip | filecheck %s

func.func @clip(%x: tensor<3xf32>) {
  // CHECK: relay.clip %x {a_max = 6.0, a_min = -0.0} : tensor<3xf32>
  %0 = relay.clip %x {a_min = -0.0, a_max = 6} : tensor<3xf32>
  func.return
}
