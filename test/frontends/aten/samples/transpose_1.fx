# arg0_1: float32[1, 2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# output_0: float32[1, 3, 2] -8.478374 -2.400456 -1.7658259 -7.950587 -4.3228045 3.6116052
def forward(self, arg0_1: "f32[1, 2, 3]"):
    transpose_copy: "f32[1, 3, 2]" = torch.ops.aten.transpose_copy.int(arg0_1, -1, -2);  arg0_1 = None
    return [transpose_copy]
