# given_0: float32[] -8.478374
# output_0: int64[] 0
def forward(self, given_0: "f32[]"):
    argmin: "i64[]" = torch.ops.aten.argmin.default(given_0);  given_0 = None
    return (argmin,)
