# given_0: float32[3, 3] 0.46060255 0.03269012 0.60587496 0.6974481 0.3415424 0.051071726 0.1354862 0.7617981 0.3196545
# output_0: float32[] 0.3415424
def forward(self, given_0: "f32[3, 3]"):
    nanmedian: "f32[]" = torch.ops.aten.nanmedian.default(given_0);  given_0 = None
    return (nanmedian,)
