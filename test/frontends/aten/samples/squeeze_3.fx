# arg0_1: float32[1, 1, 1, 1] -8.478374
# output_0: float32[1, 1, 1] -8.478374
def forward(self, arg0_1: "f32[1, 1, 1, 1]"):
    squeeze_copy: "f32[1, 1, 1]" = torch.ops.aten.squeeze_copy.dim(arg0_1, 0);  arg0_1 = None
    return [squeeze_copy]
