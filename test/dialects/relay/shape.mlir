// RUN: opt-tool %s --verify-roundtrip | filecheck %s

func.func @shape(%x: tensor<2x6xf32>, %y: tensor<2x1xf32>, %i: tensor<4xi64>) {
  // CHECK: relay.reshape %x {newshape = [0, 2, -1]} : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  %0 = relay.reshape %x {newshape = [0, 2, -1]} : (tensor<2x6xf32>) -> tensor<2x2x3xf32>
  // CHECK: relay.transpose %x : (tensor<2x6xf32>) -> tensor<6x2xf32>
  %1 = relay.transpose %x {axes = []} : (tensor<2x6xf32>) -> tensor<6x2xf32>
  // CHECK: relay.concatenate %x, %y, %x {axis = 1} : (tensor<2x6xf32>, tensor<2x1xf32>, tensor<2x6xf32>) -> tensor<2x13xf32>
  %2 = relay.concatenate %x, %y, %x {axis = 1} : (tensor<2x6xf32>, tensor<2x1xf32>, tensor<2x6xf32>) -> tensor<2x13xf32>
  // CHECK: %s, %t = relay.split %x {axis = 1, indices_or_sections = [4]} : (tensor<2x6xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>)
  %s, %t = relay.split %x {axis = 1, indices_or_sections = [4]} : (tensor<2x6xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>)
  // CHECK: relay.take %x, %i {axis = 1, mode = "wrap"} : (tensor<2x6xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  %3 = relay.take %x, %i {axis = 1, mode = "wrap"} : (tensor<2x6xf32>, tensor<4xi64>) -> tensor<2x4xf32>
  // CHECK: relay.zeros {shape = [2, 3]} : tensor<2x3xf32>
  %4 = relay.zeros {shape = [2, 3], dtype = "float32"} : tensor<2x3xf32>
  // CHECK: relay.layout_transform %x {dst_layout = "NC4c", src_layout = "NC"} : (tensor<2x6xf32>) -> tensor<2x2x4xf32>
  %5 = relay.layout_transform %x {src_layout = "NC", dst_layout = "NC4c"} : (tensor<2x6xf32>) -> tensor<2x2x4xf32>
  func.return
}
