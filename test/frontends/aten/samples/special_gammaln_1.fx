# given_0: float32[3, 3] 0.103715494 0.20331186 0.10165953 0.19927396 0.39126128 0.78053313 0.11837682 0.0543334 0.6085059
# output_0: float32[3, 3] 2.2146668 1.5066898 2.2355523 1.5279108 0.8193425 0.17128661 2.0764627 2.88362 0.38526002
def forward(self, given_0: "f32[3, 3]"):
    special_gammaln: "f32[3, 3]" = torch.ops.aten.special_gammaln.default(given_0);  given_0 = None
    return (special_gammaln,)
