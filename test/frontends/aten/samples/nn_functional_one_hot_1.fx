# given_0: int64[] 0
# output_0: int64[10] 1 0 0 0 0 0 0 0 0 0
def forward(self, given_0: "i64[]"):
    one_hot: "i64[10]" = torch.ops.aten.one_hot.default(given_0, 10);  given_0 = None
    return (one_hot,)
