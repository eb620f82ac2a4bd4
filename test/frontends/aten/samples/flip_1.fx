# given_0: float32[5, 0, 10]
# output_0: float32[5, 0, 10]
def forward(self, given_0: "f32[5, 0, 10]"):
    flip: "f32[5, 0, 10]" = torch.ops.aten.flip.default(given_0, [0, 1, 2]);  given_0 = None
    return (flip,)
