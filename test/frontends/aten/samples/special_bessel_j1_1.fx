# given_0: float32[3, 3] 0.5543616 0.67028487 0.39779836 0.45503733 0.5922187 0.8768333 0.081930645 0.7937951 0.5635239
# output_0: float32[3, 3] 0.26666847 0.31666982 0.19499071 0.2216805 0.2833161 0.39761108 0.040930957 0.3664464 0.27072445
def forward(self, given_0: "f32[3, 3]"):
    special_bessel_j1: "f32[3, 3]" = torch.ops.aten.special_bessel_j1.default(given_0);  given_0 = None
    return (special_bessel_j1,)
