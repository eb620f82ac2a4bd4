# given_0: float32[3, 3] 0.7509108 0.06950703 0.30837727 0.29037842 0.4112211 0.4955934 0.16850516 0.5112777 0.47039813
# output_0: float32[3, 3] 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0 0.0
def forward(self, given_0: "f32[3, 3]"):
    floor: "f32[3, 3]" = torch.ops.aten.floor.default(given_0);  given_0 = None
    return (floor,)
