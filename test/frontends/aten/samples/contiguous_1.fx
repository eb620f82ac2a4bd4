# given_0: float32[3, 3] 0.0088315485 0.07559629 0.44344097 0.87590206 0.15875748 0.63931686 0.24467732 0.7986083 0.74267
# output_0: float32[3, 3] 0.0088315485 0.07559629 0.44344097 0.87590206 0.15875748 0.63931686 0.24467732 0.7986083 0.74267
def forward(self, given_0: "f32[3, 3]"):
    contiguous: "f32[3, 3]" = torch.ops.aten.contiguous.default(given_0);  given_0 = None
    return (contiguous,)
