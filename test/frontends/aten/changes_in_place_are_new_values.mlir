// RUN: opt-tool --input-format=fx %s | filecheck %s
// What is changed in place is a new value from there on; a part that is changed is written back into the whole.

def forward(self, x: "f32[2, 4]"):
    relu_: "f32[2, 4]" = torch.ops.aten.relu_.default(x)
    slice_1: "f32[2, 2]" = torch.ops.aten.slice.Tensor(x, 1, 0, 2)
    fill_: "f32[2, 2]" = torch.ops.aten.fill_.Scalar(slice_1, 7.0)
    mul: "f32[2, 4]" = torch.ops.aten.mul.Tensor(x, x)
    return (mul,)

// CHECK:      %relu = relay.nn.relu %x
// CHECK:      [[REST:%.*]] = relay.strided_slice %relu {axes = [1], begin = [2], end = [4]
// CHECK-NEXT: [[SEVEN:%.*]] = relay.constant dense<7.000000e+00> : tensor<2x2xf32>
// CHECK-NEXT: [[NEW:%.*]] = relay.concatenate [[SEVEN]], [[REST]] {axis = 1}
// CHECK-NEXT: %mul = relay.multiply [[NEW]], [[NEW]]
