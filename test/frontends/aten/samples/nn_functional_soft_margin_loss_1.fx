# arg0_1: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# arg1_1: float32[5] 3.6116052 -8.067647 -0.57349384 3.1285105 -3.0336847
# output_0: float32[5] 30.620537 6.5015195e-07 0.08049044 7.510399 3.349672e-11
def forward(self, arg0_1: "f32[5]", arg1_1: "f32[5]"):
    neg: "f32[5]" = torch.ops.aten.neg.default(arg0_1);  arg0_1 = None
    mul: "f32[5]" = torch.ops.aten.mul.Tensor(neg, arg1_1);  neg = arg1_1 = None
    exp: "f32[5]" = torch.ops.aten.exp.default(mul);  mul = None
    log1p: "f32[5]" = torch.ops.aten.log1p.default(exp);  exp = None
    return [log1p]
