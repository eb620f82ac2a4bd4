# arg0_1: float32[] -8.478374
# arg1_1: float32[] -1.7658259
# output_0: float32[] 6.712548
def forward(self, arg0_1: "f32[]", arg1_1: "f32[]"):
    sub: "f32[]" = torch.ops.aten.sub.Tensor(arg0_1, arg1_1);  arg0_1 = arg1_1 = None
    abs_1: "f32[]" = torch.ops.aten.abs.default(sub);  sub = None
    mean: "f32[]" = torch.ops.aten.mean.default(abs_1);  abs_1 = None
    return [mean]
