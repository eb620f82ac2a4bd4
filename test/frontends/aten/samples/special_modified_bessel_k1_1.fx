# given_0: float32[3, 3] 0.83372533 0.72852343 0.062768675 0.19787267 0.8032542 0.04751029 0.26357353 0.091567874 0.09208587
# output_0: float32[3, 3] 0.808714 0.9911046 15.825239 4.831079 0.85645884 20.961035 3.5340092 10.783027 10.721073
def forward(self, given_0: "f32[3, 3]"):
    special_modified_bessel_k1: "f32[3, 3]" = torch.ops.aten.special_modified_bessel_k1.default(given_0);  given_0 = None
    return (special_modified_bessel_k1,)
