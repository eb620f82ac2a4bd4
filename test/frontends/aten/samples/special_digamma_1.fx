# given_0: float32[3, 3] 0.29317462 0.62897277 0.39416966 0.7518698 0.7538987 0.71500874 0.0662047 0.885607 0.0024249852
# output_0: float32[3, 3] -3.5878968 -1.4392662 -2.604358 -1.0811176 -1.0759909 -1.1781982 -15.577955 -0.78293467 -412.9469
def forward(self, given_0: "f32[3, 3]"):
    special_digamma: "f32[3, 3]" = torch.ops.aten.special_digamma.default(given_0);  given_0 = None
    return (special_digamma,)
