// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @nn_batch_norm(%0: tensor<2x4x3x6xf32>, %1: tensor<4xf32>, %2: tensor<4xf32>, %3: tensor<4xf32>, %4: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
  %5 = relay.nn.batch_norm %0, %1, %2, %3, %4 : (tensor<2x4x3x6xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x6xf32>
  func.return %5 : tensor<2x4x3x6xf32>
}
// CHECK:      te.func @fused_nn_batch_norm(%p0: tensor<2x4x3x6xf32>, %p1: tensor<4xf32>, %p2: tensor<4xf32>, %p3: tensor<4xf32>, %p4: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
// CHECK:      %batch_norm = te.compute "batch_norm" [2, 4, 3, 6] (%i0, %i1, %i2, %i3) : tensor<2x4x3x6xf32> attributes {tag = "nn.batch_norm"} {
// CHECK:      te.return %batch_norm : tensor<2x4x3x6xf32>

func.func @nn_group_norm(%0: tensor<2x4x3x6xf32>, %1: tensor<4xf32>, %2: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
  %3 = relay.nn.group_norm %0, %1, %2 {num_groups = 2} : (tensor<2x4x3x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x6xf32>
  func.return %3 : tensor<2x4x3x6xf32>
}
// CHECK:      te.func @fused_nn_group_norm(%p0: tensor<2x4x3x6xf32>, %p1: tensor<4xf32>, %p2: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
// CHECK:      %groups = te.compute "groups" [2, 2, 2, 3, 6] (%i0, %i1, %i2, %i3, %i4) : tensor<2x2x2x3x6xf32> attributes {tag = "nn.group_norm"} {
// CHECK:      %sum = te.compute "sum" [2, 2] sum [2, 3, 6] (%i0, %i1, %k2, %k3, %k4) : tensor<2x2xf32> attributes {tag = "nn.group_norm"} {
// CHECK:      %mean = te.compute "mean" [2, 2] (%i0, %i1) : tensor<2x2xf32> attributes {tag = "nn.group_norm"} {
// CHECK:      %squares = te.compute "squares" [2, 2] sum [2, 3, 6] (%i0, %i1, %k2, %k3, %k4) : tensor<2x2xf32> attributes {tag = "nn.group_norm"} {
// CHECK:      %rstd = te.compute "rstd" [2, 2] (%i0, %i1) : tensor<2x2xf32> attributes {tag = "nn.group_norm"} {
// CHECK:      %group_norm = te.compute "group_norm" [2, 4, 3, 6] (%i0, %i1, %i2, %i3) : tensor<2x4x3x6xf32> attributes {tag = "nn.group_norm"} {
// CHECK:      te.return %group_norm : tensor<2x4x3x6xf32>

func.func @nn_instance_norm(%0: tensor<2x4x3x6xf32>, %1: tensor<4xf32>, %2: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
  %3 = relay.nn.instance_norm %0, %1, %2 : (tensor<2x4x3x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x6xf32>
  func.return %3 : tensor<2x4x3x6xf32>
}
// CHECK:      te.func @fused_nn_instance_norm(%p0: tensor<2x4x3x6xf32>, %p1: tensor<4xf32>, %p2: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
// CHECK:      %sum = te.compute "sum" [2, 4] sum [3, 6] (%i0, %i1, %k2, %k3) : tensor<2x4xf32> attributes {tag = "nn.instance_norm"} {
// CHECK:      %mean = te.compute "mean" [2, 4] (%i0, %i1) : tensor<2x4xf32> attributes {tag = "nn.instance_norm"} {
// CHECK:      %squares = te.compute "squares" [2, 4] sum [3, 6] (%i0, %i1, %k2, %k3) : tensor<2x4xf32> attributes {tag = "nn.instance_norm"} {
// CHECK:      %rstd = te.compute "rstd" [2, 4] (%i0, %i1) : tensor<2x4xf32> attributes {tag = "nn.instance_norm"} {
// CHECK:      %instance_norm = te.compute "instance_norm" [2, 4, 3, 6] (%i0, %i1, %i2, %i3) : tensor<2x4x3x6xf32> attributes {tag = "nn.instance_norm"} {
// CHECK:      te.return %instance_norm : tensor<2x4x3x6xf32>

func.func @nn_l2_normalize(%0: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %1 = relay.nn.l2_normalize %0 {axis = [1], eps = 1.0e-12} : tensor<2x3xf32>
  func.return %1 : tensor<2x3xf32>
}
// CHECK:      te.func @fused_nn_l2_normalize(%p0: tensor<2x3xf32>) -> tensor<2x3xf32> {
// CHECK:      %squares = te.compute "squares" [2] sum [3] (%i0, %k1) : tensor<2xf32> attributes {tag = "nn.l2_normalize"} {
// CHECK:      %l2_normalize = te.compute "l2_normalize" [2, 3] (%i0, %i1) : tensor<2x3xf32> attributes {tag = "nn.l2_normalize"} {
// CHECK:      te.return %l2_normalize : tensor<2x3xf32>

func.func @nn_layer_norm(%0: tensor<2x4x3x6xf32>, %1: tensor<4xf32>, %2: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
  %3 = relay.nn.layer_norm %0, %1, %2 {axis = 1} : (tensor<2x4x3x6xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x4x3x6xf32>
  func.return %3 : tensor<2x4x3x6xf32>
}
// CHECK:      te.func @fused_nn_layer_norm(%p0: tensor<2x4x3x6xf32>, %p1: tensor<4xf32>, %p2: tensor<4xf32>) -> tensor<2x4x3x6xf32> {
// CHECK:      %sum = te.compute "sum" [2, 3, 6] sum [4] (%i0, %i1, %i2, %k1) : tensor<2x3x6xf32> attributes {tag = "nn.layer_norm"} {
// CHECK:      %mean = te.compute "mean" [2, 3, 6] (%i0, %i1, %i2) : tensor<2x3x6xf32> attributes {tag = "nn.layer_norm"} {
// CHECK:      %squares = te.compute "squares" [2, 3, 6] sum [4] (%i0, %i1, %i2, %k1) : tensor<2x3x6xf32> attributes {tag = "nn.layer_norm"} {
// CHECK:      %rstd = te.compute "rstd" [2, 3, 6] (%i0, %i1, %i2) : tensor<2x3x6xf32> attributes {tag = "nn.layer_norm"} {
// CHECK:      %layer_norm = te.compute "layer_norm" [2, 4, 3, 6] (%i0, %i1, %i2, %i3) : tensor<2x4x3x6xf32> attributes {tag = "nn.layer_norm"} {
// CHECK:      te.return %layer_norm : tensor<2x4x3x6xf32>
