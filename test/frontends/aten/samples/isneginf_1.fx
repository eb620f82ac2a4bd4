# given_0: float32[3, 3] 0.17837334 0.280882 0.74184453 0.6878954 0.8697421 0.37742838 0.480975 0.19787616 0.7792011
# output_0: bool[3, 3] False False False False False False False False False
def forward(self, given_0: "f32[3, 3]"):
    isneginf: "b8[3, 3]" = torch.ops.aten.isneginf.default(given_0);  given_0 = None
    return (isneginf,)
