// RUN: opt-tool %s -p relay-simplify-expr-post-alter-op | filecheck %s

// CHECK:      func.func @main
// CHECK-NEXT:   %0 = relay.nn.relu %x : tensor<1x4x9x9x16xf32>
// CHECK-NEXT:   func.return %0
func.func @main(%x: tensor<1x4x9x9x16xf32>) -> tensor<1x4x9x9x16xf32> {
  %0 = relay.layout_transform %x {dst_layout = "NCHW", src_layout = "NCHW16c"} : (tensor<1x4x9x9x16xf32>) -> tensor<1x64x9x9xf32>
  %1 = relay.layout_transform %0 {dst_layout = "NCHW16c", src_layout = "NCHW"} : (tensor<1x64x9x9xf32>) -> tensor<1x4x9x9x16xf32>
  %2 = relay.cast %1 {dtype = "float32"} : tensor<1x4x9x9x16xf32>
  %3 = relay.nn.relu %2 : tensor<1x4x9x9x16xf32>
  return %3 : tensor<1x4x9x9x16xf32>
}
