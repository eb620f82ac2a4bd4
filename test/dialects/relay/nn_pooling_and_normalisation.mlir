// RUN: opt-tool %s --verify-roundtrip | filecheck %s

func.func @layers(%x: tensor<1x6x8x8xf32>, %c: tensor<6xf32>, %t: tensor<2x8xf32>, %v: tensor<8xf32>) {
  // CHECK: relay.nn.max_pool2d %x {padding = [1, 1, 1, 1], pool_size = [3, 3], strides = [2, 2]} : (tensor<1x6x8x8xf32>) -> tensor<1x6x4x4xf32>
  %0 = relay.nn.max_pool2d %x {pool_size = [3, 3], strides = [2, 2], padding = [1, 1, 1, 1]} : (tensor<1x6x8x8xf32>) -> tensor<1x6x4x4xf32>
  // CHECK: relay.nn.avg_pool2d %x {ceil_mode = true, pool_size = [3, 3], strides = [2, 2]} : (tensor<1x6x8x8xf32>) -> tensor<1x6x4x4xf32>
  %1 = relay.nn.avg_pool2d %x {pool_size = [3, 3], strides = [2, 2], ceil_mode = true} : (tensor<1x6x8x8xf32>) -> tensor<1x6x4x4xf32>
  // CHECK: relay.nn.global_avg_pool2d %x : (tensor<1x6x8x8xf32>) -> tensor<1x6x1x1xf32>
  %2 = relay.nn.global_avg_pool2d %x : (tensor<1x6x8x8xf32>) -> tensor<1x6x1x1xf32>
  // CHECK: relay.nn.batch_norm %x, %c, %c, %c, %c {epsilon = 0.001} : (tensor<1x6x8x8xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x8x8xf32>
  %3 = relay.nn.batch_norm %x, %c, %c, %c, %c {epsilon = 0.001} : (tensor<1x6x8x8xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<1x6x8x8xf32>
  // CHECK: relay.nn.lrn %x {alpha = 0.0001, size = 3} : tensor<1x6x8x8xf32>
  %4 = relay.nn.lrn %x {alpha = 0.0001, size = 3} : tensor<1x6x8x8xf32>
  // CHECK: relay.nn.softmax %t : tensor<2x8xf32>
  %5 = relay.nn.softmax %t {axis = -1} : tensor<2x8xf32>
  // CHECK: relay.nn.layer_norm %t, %v, %v : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  %6 = relay.nn.layer_norm %t, %v, %v : (tensor<2x8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<2x8xf32>
  // CHECK: relay.nn.dense %t, %t : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
  %7 = relay.nn.dense %t, %t : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<2x2xf32>
  func.return
}
