# given_0: float32[] -8.478374
# given_1: float32[] -1.7658259
# output_0: float32[] -10.2442
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    add: "f32[]" = torch.ops.aten.add.Tensor(given_0, given_1);  given_0 = given_1 = None
    return (add,)
