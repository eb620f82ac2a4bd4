# given_0: float32[3, 3] 0.6466303 0.84542483 0.28420508 0.80671006 0.14482212 0.6095957 0.023701768 0.8950178 0.76642704
# output_0: bool[3, 3] False False False False False False False False False
def forward(self, given_0: "f32[3, 3]"):
    isnan: "b8[3, 3]" = torch.ops.aten.isnan.default(given_0);  given_0 = None
    return (isnan,)
