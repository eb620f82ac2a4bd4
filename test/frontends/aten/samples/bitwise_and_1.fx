# given_0: int64[] -8
# given_1: int64[] 6
# output_0: int64[] 0
def forward(self, given_0: "i64[]", given_1: "i64[]"):
    bitwise_and: "i64[]" = torch.ops.aten.bitwise_and.Tensor(given_0, given_1);  given_0 = given_1 = None
    return (bitwise_and,)
