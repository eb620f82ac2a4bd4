# given_0: float32[20] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052 -8.067647 -0.57349384 3.1285105 -3.0336847 5.106745 1.1351377 4.9473085 5.7744465 -3.973022 3.2707994 -3.8938508 2.8211474 -4.7023954 4.163121
# output_0: bool[20] False False False False False False False False False False False False False False False False False False False False
def forward(self, given_0: "f32[20]"):
    logical_not: "b8[20]" = torch.ops.aten.logical_not.default(given_0);  given_0 = None
    return (logical_not,)
