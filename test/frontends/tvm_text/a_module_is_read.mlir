// RUN: opt-tool --input-format=relay-text %s -p relay-fuse-ops | filecheck %s
// TVM's text of Relay is read; comments are its own too.

#[version = "0.0.5"]
def @main(%x: Tensor[(1, 3), float32]) -> Tensor[(1, 3), float32] {
  %0 = nn.relu(%x) /* ty=Tensor[(1, 3), float32] */;
  add(%0, 1f)
}

// CHECK:      func.func @main(%x: tensor<1x3xf32> {lamina.name = "x"}) -> tensor<1x3xf32> {
// CHECK:        relay.fn
// CHECK-NEXT:     relay.nn.relu %p0
// CHECK:          relay.add %0, %1
