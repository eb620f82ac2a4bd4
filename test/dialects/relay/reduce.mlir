// RUN: opt-tool %s --verify-roundtrip | filecheck %s

func.func @reduce(%x: tensor<2x3x5xf32>, %m: tensor<2x1x5xf32>) {
  // CHECK: relay.sum %x : (tensor<2x3x5xf32>) -> tensor<f32>
  %0 = relay.sum %x : (tensor<2x3x5xf32>) -> tensor<f32>
  // CHECK: relay.mean %x {axis = [-1], keepdims = true} : (tensor<2x3x5xf32>) -> tensor<2x3x1xf32>
  %1 = relay.mean %x {axis = [-1], keepdims = true, exclude = false} : (tensor<2x3x5xf32>) -> tensor<2x3x1xf32>
  // CHECK: relay.max %x {axis = [0], exclude = true} : (tensor<2x3x5xf32>) -> tensor<2xf32>
  %2 = relay.max %x {axis = [0], exclude = true} : (tensor<2x3x5xf32>) -> tensor<2xf32>
  // CHECK: relay.argmax %x {axis = [1]} : (tensor<2x3x5xf32>) -> tensor<2x5xi32>
  %3 = relay.argmax %x {axis = [1]} : (tensor<2x3x5xf32>) -> tensor<2x5xi32>
  // CHECK: relay.variance %x, %m {axis = [1], unbiased = true} : (tensor<2x3x5xf32>, tensor<2x1x5xf32>) -> tensor<2x5xf32>
  %4 = relay.variance %x, %m {axis = [1], unbiased = true} : (tensor<2x3x5xf32>, tensor<2x1x5xf32>) -> tensor<2x5xf32>
  func.return
}
