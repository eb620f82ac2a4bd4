# given_0: float32[] -8.478374
# given_1: float32[] -1.7658259
# output_0: bool[] False
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    gt: "b8[]" = torch.ops.aten.gt.Tensor(given_0, given_1);  given_0 = given_1 = None
    return (gt,)
