# given_0: float32[2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# given_1: float32[2, 2] -8.067647 -0.57349384 3.1285105 -3.0336847
# given_2: float32[2, 3] 5.106745 1.1351377 4.9473085 5.7744465 -3.973022 3.2707994
# output_0: float32[2, 3] -28.40229 -4.4807973 -25.937916 -1.4048986 7.7723947 4.055401
def forward(self, given_0: "f32[2, 3]", given_1: "f32[2, 2]", given_2: "f32[2, 3]"):
    addmm: "f32[2, 3]" = torch.ops.aten.addmm.default(given_0, given_1, given_2, beta = 0.2, alpha = 0.6);  given_0 = given_1 = given_2 = None
    return (addmm,)
