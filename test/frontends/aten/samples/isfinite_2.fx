# given_0: int64[20] -8 6 9 0 0 5 5 7 6 5 1 -5 2 -1 8 -4 0 -6 3 -5
# output_0: bool[20] True True True True True True True True True True True True True True True True True True True True
def forward(self, given_0: "i64[20]"):
    isfinite: "b8[20]" = torch.ops.aten.isfinite.default(given_0);  given_0 = None
    return (isfinite,)
