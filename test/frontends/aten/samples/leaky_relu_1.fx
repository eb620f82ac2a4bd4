# given_0: float32[3, 3] 0.19709788 0.026438534 0.12231683 0.05384647 0.8117997 0.20629631 0.7344559 0.3489401 0.18063352
# output_0: float32[3, 3] 0.19709788 0.026438534 0.12231683 0.05384647 0.8117997 0.20629631 0.7344559 0.3489401 0.18063352
def forward(self, given_0: "f32[3, 3]"):
    leaky_relu: "f32[3, 3]" = torch.ops.aten.leaky_relu.default(given_0);  given_0 = None
    return (leaky_relu,)
