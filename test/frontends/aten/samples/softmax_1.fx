# given_0: float32[5] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587
# output_0: float32[5] 0.0007545646 0.6207531 0.04813236 0.32908082 0.00127912
def forward(self, given_0: "f32[5]"):
    softmax: "f32[5]" = torch.ops.aten.softmax.int(given_0, 0);  given_0 = None
    return (softmax,)
