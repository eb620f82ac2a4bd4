# given_0: float32[3, 3] 0.72865576 0.18872215 0.55400854 0.48425454 0.7097468 0.2461462 0.825252 0.3525094 0.19029978
# output_0: float32[3, 3] 2.053313 6.137623 2.5227916 2.800105 2.093496 4.875503 1.8753158 3.6104038 6.0929227
def forward(self, given_0: "f32[3, 3]"):
    special_scaled_modified_bessel_k1: "f32[3, 3]" = torch.ops.aten.special_scaled_modified_bessel_k1.default(given_0);  given_0 = None
    return (special_scaled_modified_bessel_k1,)
