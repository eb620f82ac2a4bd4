# given_0: float32[3, 3] 0.21727057 0.59463227 0.2646902 0.3156967 0.8092108 0.5844662 0.5804382 0.3257522 0.5780609
# output_0: float32[3, 3] 12.448687 34.06992 15.165631 18.088087 46.364365 33.48745 33.25666 18.664227 33.120453
def forward(self, given_0: "f32[3, 3]"):
    rad2deg: "f32[3, 3]" = torch.ops.aten.rad2deg.default(given_0);  given_0 = None
    return (rad2deg,)
