# given_0: float32[] -8.478374
# output_0: int64[] 1
def forward(self, given_0: "f32[]"):
    count_nonzero: "i64[]" = torch.ops.aten.count_nonzero.default(given_0);  given_0 = None
    return (count_nonzero,)
