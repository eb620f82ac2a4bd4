# given_0: float32[3, 3] -2.400456 -7.950587 3.6116052 -8.067647 -0.57349384 3.1285105 -3.0336847 5.106745 1.1351377
# given_1: int64[3] 6 3 3
# output_0: float32[3] -3.0336847 -8.067647 -8.067647
def forward(self, given_0: "f32[3, 3]", given_1: "i64[3]"):
    take: "f32[3]" = torch.ops.aten.take.default(given_0, given_1);  given_0 = given_1 = None
    return (take,)
