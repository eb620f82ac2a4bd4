# given_0: float32[5, 0, 10]
# output_0: float32[5, 0, 10]
def forward(self, given_0: "f32[5, 0, 10]"):
    fliplr: "f32[5, 0, 10]" = torch.ops.aten.fliplr.default(given_0);  given_0 = None
    return (fliplr,)
