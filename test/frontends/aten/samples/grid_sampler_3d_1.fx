# given_0: float32[1, 1, 2, 2, 2] -0.9420415 -0.19620287 -0.48031163 -0.2667173 -0.88339853 0.40128946 -0.8964052 -0.06372154
# given_1: float32[1, 1, 1, 1, 3] 1.390449 -1.3483043 2.2696643
# output_0: float32[1, 1, 1, 1, 1] 0.0
def forward(self, given_0: "f32[1, 1, 2, 2, 2]", given_1: "f32[1, 1, 1, 1, 3]"):
    grid_sampler_3d: "f32[1, 1, 1, 1, 1]" = torch.ops.aten.grid_sampler_3d.default(given_0, given_1, 0, 0, False);  given_0 = given_1 = None
    return (grid_sampler_3d,)
