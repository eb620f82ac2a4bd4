# given_0: float32[8] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052 -8.067647 -0.57349384
# output_0: float32[8] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052 -8.067647 -0.57349384
def forward(self, given_0: "f32[8]"):
    unflatten: "f32[8]" = torch.ops.aten.unflatten.int(given_0, 0, [8]);  given_0 = None
    return (unflatten,)
