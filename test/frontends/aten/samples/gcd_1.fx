# given_0: int64[] -8
# given_1: int64[] 6
# output_0: int64[] 2
def forward(self, given_0: "i64[]", given_1: "i64[]"):
    gcd: "i64[]" = torch.ops.aten.gcd.default(given_0, given_1);  given_0 = given_1 = None
    return (gcd,)
