# given_0: int64[] -8
# given_1: int64[] 1
# output_0: int64[] -16
def forward(self, given_0: "i64[]", given_1: "i64[]"):
    bitwise_left_shift: "i64[]" = torch.ops.aten.bitwise_left_shift.Tensor(given_0, given_1);  given_0 = given_1 = None
    return (bitwise_left_shift,)
