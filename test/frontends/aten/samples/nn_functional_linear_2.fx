# arg0_1: float32[0, 3]
# arg1_1: float32[4, 3] -1.884083 -0.39240575 -0.96062326 -0.5334346 -1.7667971 0.8025789 -1.7928104 -0.12744308 0.6952245 -0.67415214 1.1348321 0.25225282
# arg2_1: float32[4] 1.099402 1.2832103 -0.8828938 0.7268443
# output_0: float32[0, 4]
def forward(self, arg0_1: "f32[0, 3]", arg1_1: "f32[4, 3]", arg2_1: "f32[4]"):
    t_copy: "f32[3, 4]" = torch.ops.aten.t_copy.default(arg1_1);  arg1_1 = None
    addmm: "f32[0, 4]" = torch.ops.aten.addmm.default(arg2_1, arg0_1, t_copy);  arg2_1 = arg0_1 = t_copy = None
    return [addmm]
