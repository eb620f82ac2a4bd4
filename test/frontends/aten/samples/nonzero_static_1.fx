# given_0: float32[] 0.0
# output_0: int64[0, 0]
def forward(self, given_0: "f32[]"):
    nonzero_static: "i64[0, 0]" = torch.ops.aten.nonzero_static.default(given_0, size = 0);  given_0 = None
    return (nonzero_static,)
