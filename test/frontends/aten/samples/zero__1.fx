# given_0: float32[] -8.478374
# output_0: float32[] 0.0
def forward(self, given_0: "f32[]"):
    clone: "f32[]" = torch.ops.aten.clone.default(given_0);  given_0 = None
    zero_: "f32[]" = torch.ops.aten.zero_.default(clone);  clone = None
    return (zero_,)
