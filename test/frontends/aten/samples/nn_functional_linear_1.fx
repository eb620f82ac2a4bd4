# given_0: float32[3] -1.884083 -0.39240575 -0.96062326
# given_1: float32[4, 3] -0.5334346 -1.7667971 0.8025789 -1.7928104 -0.12744308 0.6952245 -0.67415214 1.1348321 0.25225282 1.099402 1.2832103 -0.8828938
# given_2: float32[4] 0.7268443 -0.8653002 0.62692165 -1.0449767
# output_0: float32[4] 1.6542048 1.8946643 1.2094457 -2.771752
def forward(self, given_0: "f32[3]", given_1: "f32[4, 3]", given_2: "f32[4]"):
    linear: "f32[4]" = torch.ops.aten.linear.default(given_0, given_1, given_2);  given_0 = given_1 = given_2 = None
    return (linear,)
