# given_0: float32[] -8.478374
# given_1: float32[5] -7.950587 -4.3228045 -2.400456 -1.7658259 3.6116052
# output_0: int64[] 0
def forward(self, given_0: "f32[]", given_1: "f32[5]"):
    bucketize: "i64[]" = torch.ops.aten.bucketize.Tensor(given_0, given_1);  given_0 = given_1 = None
    return (bucketize,)
