# given_0: float32[3, 3] 0.7958583 0.7274326 0.2596638 0.86260843 0.53800833 0.3950736 0.7093502 0.56532365 0.3513316
# output_0: float32[3, 3] -0.9828655 -1.0663712 -2.6121793 -0.9105612 -1.3828006 -1.8000529 -1.0904306 -1.32589 -1.9937433
def forward(self, given_0: "f32[3, 3]"):
    special_bessel_y1: "f32[3, 3]" = torch.ops.aten.special_bessel_y1.default(given_0);  given_0 = None
    return (special_bessel_y1,)
