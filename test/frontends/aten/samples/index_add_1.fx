# given_0: float32[] -8.478374
# given_1: int64[1] 0
# given_2: float32[] -1.7658259
# output_0: float32[] -6.712548
def forward(self, given_0: "f32[]", given_1: "i64[1]", given_2: "f32[]"):
    index_add: "f32[]" = torch.ops.aten.index_add.default(given_0, 0, given_1, given_2, alpha = -1);  given_0 = given_1 = given_2 = None
    return (index_add,)
