// RUN: not opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv:NHWC}' 2>&1 | filecheck %s --check-prefix=OP
// RUN: not opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NN}' 2>&1 | filecheck %s --check-prefix=LAYOUT
// RUN: not opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d}' 2>&1 | filecheck %s --check-prefix=NONE
// RUN: not opt-tool %s -p 'relay-convert-layout{desired-layouts=nn.conv2d:NHWC8c}' 2>&1 | filecheck %s --check-prefix=BLOCKS

// OP: relay-convert-layout: there is no op 'relay.nn.conv'; did you mean
// LAYOUT: relay-convert-layout: layout 'NN' is malformed
// NONE: relay-convert-layout: 'nn.conv2d' gives 0 layouts; as in nn.conv2d:NHWC:default
// BLOCKS: relay-convert-layout: no convolution works on NHWC8c and default
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  return %x : tensor<8xf32>
}
