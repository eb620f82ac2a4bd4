# given_0: float32[3, 3] 0.35032737 0.8025454 0.45952553 0.48677388 0.16175227 0.42933345 0.48590946 0.5682184 0.68020576
# output_0: float32[3, 3] 0.9695522 0.8453472 0.9479017 0.94163436 0.9934698 0.9544463 0.9418383 0.92089623 0.88763213
def forward(self, given_0: "f32[3, 3]"):
    special_bessel_j0: "f32[3, 3]" = torch.ops.aten.special_bessel_j0.default(given_0);  given_0 = None
    return (special_bessel_j0,)
