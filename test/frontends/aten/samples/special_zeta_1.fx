# given_0: float32[3, 3] 0.49316934 0.40681878 0.45369425 0.4835887 0.17046806 0.74906796 0.56201094 0.8750537 0.36504444
# given_1: float32[3, 3] 0.27453542 0.21681738 0.22773488 0.23446411 0.26277348 0.13487016 0.55960155 0.29434943 0.47384763
# output_0: float32[3, 3] nan nan nan nan nan nan nan nan nan
def forward(self, given_0: "f32[3, 3]", given_1: "f32[3, 3]"):
    special_zeta: "f32[3, 3]" = torch.ops.aten.special_zeta.default(given_0, given_1);  given_0 = given_1 = None
    return (special_zeta,)
