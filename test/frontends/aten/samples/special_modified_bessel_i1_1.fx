# given_0: float32[3, 3] 0.6943729 0.021973567 0.8716163 0.841615 0.43364495 0.80737895 0.45726871 0.82873505 0.1846599
# output_0: float32[3, 3] 0.3685357 0.010987447 0.47852537 0.45918167 0.22195919 0.43748876 0.23466244 0.45097378 0.092724055
def forward(self, given_0: "f32[3, 3]"):
    special_modified_bessel_i1: "f32[3, 3]" = torch.ops.aten.special_modified_bessel_i1.default(given_0);  given_0 = None
    return (special_modified_bessel_i1,)
