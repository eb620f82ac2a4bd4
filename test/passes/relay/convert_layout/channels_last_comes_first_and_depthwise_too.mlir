// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NCHW:default}' | filecheck %s --check-prefix=CHECK-FIRST
// RUN: opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC:OHWI}' | filecheck %s --check-prefix=CHECK-KERNEL

// CHECK-FIRST:      relay.nn.conv2d {{.*}} {groups = 3, padding = [1, 1]} : (tensor<1x3x6x6xf32>, tensor<3x1x3x3xf32>)
// CHECK-FIRST-NEXT: relay.layout_transform {{.*}} {dst_layout = "NHWC", src_layout = "NCHW"}
// CHECK-FIRST-NEXT: relay.nn.batch_flatten
// CHECK-KERNEL-NOT: relay.layout_transform %x
// CHECK-KERNEL:     relay.nn.conv2d %x, {{.*}} {data_layout = "NHWC", groups = 3, kernel_layout = "OHWI", padding = [1, 1]}
func.func @main(%x: tensor<1x6x6x3xf32>, %w: tensor<3x3x3x1xf32>) -> tensor<1x108xf32> {
  %c = relay.nn.conv2d %x, %w {data_layout = "NHWC", groups = 3, kernel_layout = "HWOI", padding = [1, 1]}
    : (tensor<1x6x6x3xf32>, tensor<3x3x3x1xf32>) -> tensor<1x6x6x3xf32>
  %y = relay.nn.batch_flatten %c : (tensor<1x6x6x3xf32>) -> tensor<1x108xf32>
  return %y : tensor<1x108xf32>
}
