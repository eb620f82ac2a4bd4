// RUN: opt-tool %s -p relay-fuse-ops,relay-to-te | filecheck %s
// What the elements of each op are. Of one with many steps the stages are shown.

func.func @random_threefry_generate(%0: tensor<10xui64>) -> (tensor<10xui64>, tensor<4xui64>) {
  %1, %2 = relay.random.threefry_generate %0 {out_shape = [4]} : (tensor<10xui64>) -> (tensor<10xui64>, tensor<4xui64>)
  func.return %1, %2 : tensor<10xui64>, tensor<4xui64>
}
// CHECK:      te.func @fused_random_threefry_generate(%p0: tensor<10xui64>) -> (tensor<10xui64>, tensor<4xui64>) {
// CHECK:      %threefry_state_v0, %threefry_state_v1 = te.extern "threefry_state" (%p0_buffer = %p0) -> (%out0, %out1) : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>) attributes {tag = "random.threefry_generate"} {
// CHECK:      %threefry_numbers = te.extern "threefry_numbers" (%threefry_state_v0_buffer = %threefry_state_v0) -> (%out0) : (tensor<10xui64>) -> tensor<4xui64> attributes {tag = "random.threefry_generate"} {
// CHECK:      %threefry = te.compute "threefry" [4] (%i0) : tensor<4xui64> attributes {tag = "random.threefry_generate"} {
// CHECK:      te.return %threefry_state_v1, %threefry : tensor<10xui64>, tensor<4xui64>

func.func @random_threefry_split(%0: tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>) {
  %1, %2 = relay.random.threefry_split %0 : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>)
  func.return %1, %2 : tensor<10xui64>, tensor<10xui64>
}
// CHECK:      te.func @fused_random_threefry_split(%p0: tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>) {
// CHECK:      %threefry_split_v0, %threefry_split_v1 = te.extern "threefry_split" (%p0_buffer = %p0) -> (%out0, %out1) : (tensor<10xui64>) -> (tensor<10xui64>, tensor<10xui64>) attributes {tag = "random.threefry_split"} {
// CHECK:      te.return %threefry_split_v0, %threefry_split_v1 : tensor<10xui64>, tensor<10xui64>
