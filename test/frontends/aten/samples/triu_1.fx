# given_0: float32[3, 3] 0.33757272 0.3820693 0.7063496 0.5774127 0.89077014 0.7527134 0.4880983 0.8872594 0.29464367
# output_0: float32[3, 3] 0.33757272 0.3820693 0.7063496 0.0 0.89077014 0.7527134 0.0 0.0 0.29464367
def forward(self, given_0: "f32[3, 3]"):
    triu: "f32[3, 3]" = torch.ops.aten.triu.default(given_0);  given_0 = None
    return (triu,)
