# given_0: float32[3, 3] 0.01016643 0.6361257 0.84313685 0.2861964 0.29302377 0.24701697 0.050286483 0.7738088 0.4575409
# output_0: float32[3, 3] 0.0 1.0 1.0 0.0 0.0 0.0 0.0 1.0 0.0
def forward(self, given_0: "f32[3, 3]"):
    round_1: "f32[3, 3]" = torch.ops.aten.round.default(given_0);  given_0 = None
    return (round_1,)
