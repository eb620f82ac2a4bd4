# given_0: int64[20] -8 6 9 0 0 5 5 7 6 5 1 -5 2 -1 8 -4 0 -6 3 -5
# output_0: int64[20] 7 -7 -10 -1 -1 -6 -6 -8 -7 -6 -2 4 -3 0 -9 3 -1 5 -4 4
def forward(self, given_0: "i64[20]"):
    bitwise_not: "i64[20]" = torch.ops.aten.bitwise_not.default(given_0);  given_0 = None
    return (bitwise_not,)
