# given_0: float32[] -8.478374
# given_1: float32[] -1.7658259
# output_0: float32[] 0.20827414
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    reciprocal: "f32[]" = torch.ops.aten.reciprocal.default(given_0);  given_0 = None
    mul: "f32[]" = torch.ops.aten.mul.Tensor(reciprocal, given_1);  reciprocal = given_1 = None
    return (mul,)
