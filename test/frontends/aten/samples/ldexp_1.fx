# arg0_1: float32[] -8.478374
# arg1_1: float32[] -1.7658259
# output_0: float32[] -2.493136
def forward(self, arg0_1: "f32[]", arg1_1: "f32[]"):
    new_full: "f32[]" = torch.ops.aten.new_full.default(arg0_1, [], 2.0, dtype = torch.float32, pin_memory = False)
    pow_1: "f32[]" = torch.ops.aten.pow.Tensor_Tensor(new_full, arg1_1);  new_full = arg1_1 = None
    mul: "f32[]" = torch.ops.aten.mul.Tensor(arg0_1, pow_1);  arg0_1 = pow_1 = None
    return [mul]
