# arg0_1: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[4] 6.712548 -2.5569787 1.9223485 -5.550131
def forward(self, arg0_1: "f32[5]"):
    slice_1: "f32[4]" = torch.ops.aten.slice.Tensor(arg0_1, 0, 0, 4)
    slice_2: "f32[4]" = torch.ops.aten.slice.Tensor(arg0_1, 0, 1, 5);  arg0_1 = None
    sub: "f32[4]" = torch.ops.aten.sub.Tensor(slice_2, slice_1);  slice_2 = slice_1 = None
    return [sub]
