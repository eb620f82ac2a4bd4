// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @random_normal(%0: tensor<10xui64>, %1: tensor<f32>, %2: tensor<f32>) -> (tensor<10xui64>, tensor<4xf32>) {
  %3, %4 = relay.random.normal %0, %1, %2 {out_shape = [4]} : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> (tensor<10xui64>, tensor<4xf32>)
  func.return %3, %4 : tensor<10xui64>, tensor<4xf32>
}
// CHECK:      te.func @fused_random_normal(%p0: tensor<10xui64>, %p1: tensor<f32>, %p2: tensor<f32>) -> (tensor<10xui64>, tensor<4xf32>) {
// CHECK:      %threefry_state_v0, %threefry_state_v1 = te.extern "threefry_state" (%p0_buffer = %p0) -> (%out0, %out1) : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>) attributes {tag = "random.normal"} {
// CHECK:      %threefry_numbers = te.extern "threefry_numbers" (%threefry_state_v0_buffer = %threefry_state_v0) -> (%out0) : (tensor<10xui64>) -> tensor<8xui64> attributes {tag = "random.normal"} {
// CHECK:      %normal = te.compute "normal" [4] (%i0) : tensor<4xf32> attributes {tag = "random.normal"} {
// CHECK:      te.return %threefry_state_v1, %normal : tensor<10xui64>, tensor<4xf32>

func.func @random_uniform(%0: tensor<10xui64>, %1: tensor<f32>, %2: tensor<f32>) -> (tensor<10xui64>, tensor<4xf32>) {
  %3, %4 = relay.random.uniform %0, %1, %2 {out_shape = [4]} : (tensor<10xui64>, tensor<f32>, tensor<f32>) -> (tensor<10xui64>, tensor<4xf32>)
  func.return %3, %4 : tensor<10xui64>, tensor<4xf32>
}
// CHECK:      te.func @fused_random_uniform(%p0: tensor<10xui64>, %p1: tensor<f32>, %p2: tensor<f32>) -> (tensor<10xui64>, tensor<4xf32>) {
// CHECK:      %threefry_state_v0, %threefry_state_v1 = te.extern "threefry_state" (%p0_buffer = %p0) -> (%out0, %out1) : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>) attributes {tag = "random.uniform"} {
// CHECK:      %threefry_numbers = te.extern "threefry_numbers" (%threefry_state_v0_buffer = %threefry_state_v0) -> (%out0) : (tensor<10xui64>) -> tensor<4xui64> attributes {tag = "random.uniform"} {
// CHECK:      %uniform = te.compute "uniform" [4] (%i0) : tensor<4xf32> attributes {tag = "random.uniform"} {
// CHECK:      te.return %threefry_state_v1, %uniform : tensor<10xui64>, tensor<4xf32>
