# given_0: float32[3, 3] 0.7629562 0.7363688 0.6530885 0.061628524 0.035562497 0.76055264 0.83242655 0.8531026 0.68239325
# output_0: float32[3, 3] 1.2834084 1.3025036 1.3686248 3.0910115 3.5788386 1.2850983 1.2373607 1.2246182 1.3441725
def forward(self, given_0: "f32[3, 3]"):
    special_scaled_modified_bessel_k0: "f32[3, 3]" = torch.ops.aten.special_scaled_modified_bessel_k0.default(given_0);  given_0 = None
    return (special_scaled_modified_bessel_k0,)
