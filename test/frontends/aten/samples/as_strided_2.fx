# arg0_1: float32[1] -8.478374
# output_0: float32[1] -8.478374
def forward(self, arg0_1: "f32[1]"):
    as_strided_copy: "f32[1]" = torch.ops.aten.as_strided_copy.default(arg0_1, [1], [1], 0);  arg0_1 = None
    return [as_strided_copy]
