# given_0: float32[3, 3] 0.6289518 0.57559305 0.019712841 0.5123961 0.026328295 0.5481786 0.8597171 0.53429055 0.65411246
# output_0: bool[3, 3] False False False False False False False False False
def forward(self, given_0: "f32[3, 3]"):
    isinf: "b8[3, 3]" = torch.ops.aten.isinf.default(given_0);  given_0 = None
    return (isinf,)
