# arg0_1: float32[1] -8.478374
# output_0: float32[1] -8.478374
def forward(self, arg0_1: "f32[1]"):
    zeros_like: "f32[1]" = torch.ops.aten.zeros_like.default(arg0_1)
    copy_: "f32[1]" = torch.ops.aten.copy_.default(zeros_like, arg0_1);  zeros_like = arg0_1 = None
    return [copy_]
