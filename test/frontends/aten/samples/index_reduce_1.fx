# given_0: float32[1] -4.3228045
# given_1: int64[1] 0
# given_2: float32[1] -1.7658259
# output_0: float32[1] -3.044315
def forward(self, given_0: "f32[1]", given_1: "i64[1]", given_2: "f32[1]"):
    index_reduce: "f32[1]" = torch.ops.aten.index_reduce.default(given_0, 0, given_1, given_2, 'mean');  given_0 = given_1 = given_2 = None
    return (index_reduce,)
