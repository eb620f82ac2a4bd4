# given_0: float32[3, 3] 0.04011812 0.52938855 0.6163516 0.3569111 0.20936492 0.33782476 0.046854004 0.44469452 0.32061088
# output_0: float32[3, 3] 0.9997318 0.9539414 0.93787694 0.9789039 0.9927104 0.9810873 0.99963415 0.9673655 0.98295593
def forward(self, given_0: "f32[3, 3]"):
    special_spherical_bessel_j0: "f32[3, 3]" = torch.ops.aten.special_spherical_bessel_j0.default(given_0);  given_0 = None
    return (special_spherical_bessel_j0,)
