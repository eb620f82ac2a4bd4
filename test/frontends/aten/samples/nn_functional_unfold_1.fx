# arg0_1: float32[0, 1, 5, 5]
# output_0: float32[0, 4, 16]
def forward(self, arg0_1: "f32[0, 1, 5, 5]"):
    im2col: "f32[0, 4, 16]" = torch.ops.aten.im2col.default(arg0_1, [2, 2], [1, 1], [0, 0], [1, 1]);  arg0_1 = None
    return [im2col]
