# given_0: int64[] -8
# given_1: int64[] 1
# output_0: int64[] -4
def forward(self, given_0: "i64[]", given_1: "i64[]"):
    bitwise_right_shift: "i64[]" = torch.ops.aten.bitwise_right_shift.Tensor(given_0, given_1);  given_0 = given_1 = None
    return (bitwise_right_shift,)
