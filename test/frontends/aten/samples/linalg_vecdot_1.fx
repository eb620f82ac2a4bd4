# given_0: float32[3, 3] 0.73441696 0.48736188 0.31713188 0.62322646 0.48015392 0.2991891 0.40439883 0.7117806 0.89490217
# given_1: float32[3, 3] 0.3311977 0.79924965 0.88432366 0.71441144 0.67118245 0.0701918 0.2420412 0.2643729 0.8880902
# output_0: float32[3] 0.91320825 0.78851163 1.0808105
def forward(self, given_0: "f32[3, 3]", given_1: "f32[3, 3]"):
    linalg_vecdot: "f32[3]" = torch.ops.aten.linalg_vecdot.default(given_0, given_1);  given_0 = given_1 = None
    return (linalg_vecdot,)
