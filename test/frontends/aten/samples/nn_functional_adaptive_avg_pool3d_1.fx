# given_0: float32[0, 8, 8, 8, 8]
# output_0: float32[0, 8, 5, 7, 4]
def forward(self, given_0: "f32[0, 8, 8, 8, 8]"):
    adaptive_avg_pool3d: "f32[0, 8, 5, 7, 4]" = torch.ops.aten.adaptive_avg_pool3d.default(given_0, [5, 7, 4]);  given_0 = None
    return (adaptive_avg_pool3d,)
