// RUN: opt-tool %s --verify-roundtrip | filecheck %s

func.func @broadcast(%x: tensor<2x3xf32>, %b: tensor<3xf32>, %c: tensor<2x1xi1>) {
  // CHECK: relay.add %x, %x : tensor<2x3xf32>
  %0 = relay.add %x, %x : tensor<2x3xf32>
  // CHECK: relay.multiply %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %1 = relay.multiply %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // CHECK: relay.less %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  %2 = relay.less %x, %b : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xi1>
  // CHECK: relay.where %c, %x, %b : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  %3 = relay.where %c, %x, %b : (tensor<2x1xi1>, tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  func.return
}
