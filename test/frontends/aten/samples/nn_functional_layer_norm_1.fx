# given_0: float32[1, 2, 3] 4.9473085 5.7744465 -3.973022 3.2707994 -3.8938508 2.8211474
# given_1: float32[1, 2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# given_2: float32[1, 2, 3] -8.067647 -0.57349384 3.1285105 -3.0336847 5.106745 1.1351377
# output_0: float32[1, 2, 3] -15.352344 -2.4538102 9.000603 -4.09571 15.750326 2.329287
def forward(self, given_0: "f32[1, 2, 3]", given_1: "f32[1, 2, 3]", given_2: "f32[1, 2, 3]"):
    layer_norm: "f32[1, 2, 3]" = torch.ops.aten.layer_norm.default(given_0, [1, 2, 3], given_1, given_2, 0.5, False);  given_0 = given_1 = given_2 = None
    return (layer_norm,)
