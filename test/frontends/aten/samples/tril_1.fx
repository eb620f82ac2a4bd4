# given_0: float32[3, 3] 0.629143 0.2602618 0.5612046 0.12266621 0.6325832 0.32235816 0.7022077 0.85080963 0.85175437
# output_0: float32[3, 3] 0.629143 0.0 0.0 0.12266621 0.6325832 0.0 0.7022077 0.85080963 0.85175437
def forward(self, given_0: "f32[3, 3]"):
    tril: "f32[3, 3]" = torch.ops.aten.tril.default(given_0);  given_0 = None
    return (tril,)
