# given_0: float32[3, 3] 0.8974171 0.29312098 0.20962359 0.64691865 0.8474658 0.4206137 0.82937187 0.33699927 0.007476872
# output_0: float32[3, 3] 0.0033698766 -0.8232122 -1.0498152 -0.25126198 -0.04162008 -0.57010466 -0.05855427 -0.7267549 -3.1906033
def forward(self, given_0: "f32[3, 3]"):
    special_bessel_y0: "f32[3, 3]" = torch.ops.aten.special_bessel_y0.default(given_0);  given_0 = None
    return (special_bessel_y0,)
