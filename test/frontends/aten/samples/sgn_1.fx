# given_0: float32[3, 3] 0.4297247 0.6335323 0.047412172 0.79837376 0.8148911 0.26954108 0.459388 0.42658135 0.5821647
# output_0: float32[3, 3] 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0 1.0
def forward(self, given_0: "f32[3, 3]"):
    sgn: "f32[3, 3]" = torch.ops.aten.sgn.default(given_0);  given_0 = None
    return (sgn,)
