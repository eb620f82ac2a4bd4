# given_0: float32[] -8.478374
# given_1: float32[] 3.623068
# output_0: float32[] -10.91439
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    xlogy: "f32[]" = torch.ops.aten.xlogy.Tensor(given_0, given_1);  given_0 = given_1 = None
    return (xlogy,)
