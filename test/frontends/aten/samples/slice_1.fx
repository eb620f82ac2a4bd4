# arg0_1: float32[3] -8.478374 -1.7658259 -4.3228045
# output_0: float32[3] -8.478374 -1.7658259 -4.3228045
def forward(self, arg0_1: "f32[3]"):
    slice_copy: "f32[3]" = torch.ops.aten.slice_copy.Tensor(arg0_1);  arg0_1 = None
    return [slice_copy]
