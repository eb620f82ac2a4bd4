# given_0: float32[] -8.478374
# given_1: float32[] -1.7658259
# output_0: float32[] -1.776135
def forward(self, given_0: "f32[]", given_1: "f32[]"):
    atan2: "f32[]" = torch.ops.aten.atan2.default(given_0, given_1);  given_0 = given_1 = None
    return (atan2,)
