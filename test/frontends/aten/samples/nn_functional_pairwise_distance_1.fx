# arg0_1: float32[3] -8.478374 -1.7658259 -4.3228045
# arg1_1: float32[3] -2.400456 -7.950587 3.6116052
# output_0: float32[] 11.753603
def forward(self, arg0_1: "f32[3]", arg1_1: "f32[3]"):
    sub: "f32[3]" = torch.ops.aten.sub.Tensor(arg0_1, arg1_1);  arg0_1 = arg1_1 = None
    add: "f32[3]" = torch.ops.aten.add.Scalar(sub, 1e-06);  sub = None
    norm: "f32[]" = torch.ops.aten.norm.ScalarOpt_dim(add, 2.0, [0]);  add = None
    return [norm]
