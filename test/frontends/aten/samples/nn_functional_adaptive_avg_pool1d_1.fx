# given_0: float32[0, 8, 8]
# output_0: float32[0, 8, 5]
def forward(self, given_0: "f32[0, 8, 8]"):
    adaptive_avg_pool1d: "f32[0, 8, 5]" = torch.ops.aten.adaptive_avg_pool1d.default(given_0, [5]);  given_0 = None
    return (adaptive_avg_pool1d,)
