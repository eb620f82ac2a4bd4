# arg0_1: float32[] -8.478374
# output_0: float32[1] -8.478374
def forward(self, arg0_1: "f32[]"):
    unsqueeze_copy: "f32[1]" = torch.ops.aten.unsqueeze_copy.default(arg0_1, 0);  arg0_1 = None
    return [unsqueeze_copy]
