# arg0_1: float32[] -8.478374
# arg1_1: float32[] -1.7658259
# output_0: float32[] -8.478374
def forward(self, arg0_1: "f32[]", arg1_1: "f32[]"):
    minimum: "f32[]" = torch.ops.aten.minimum.default(arg0_1, arg1_1);  arg0_1 = arg1_1 = None
    return [minimum]
