# arg0_1: float32[20] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052 -8.067647 -0.57349384 3.1285105 -3.0336847 5.106745 1.1351377 4.9473085 5.7744465 -3.973022 3.2707994 -3.8938508 2.8211474 -4.7023954 4.163121
# arg1_1: float32[5] 1.8220074 -3.522088 -4.414461 2.3285136 8.3972
# output_0: bool[20] False False False False False False False False False False False False False False False False False False False False
def forward(self, arg0_1: "f32[20]", arg1_1: "f32[5]"):
    view: "f32[20, 1]" = torch.ops.aten.view.default(arg0_1, [20, 1]);  arg0_1 = None
    eq: "b8[20, 5]" = torch.ops.aten.eq.Tensor(view, arg1_1);  view = arg1_1 = None
    any_1: "b8[20]" = torch.ops.aten.any.dims(eq, [-1]);  eq = None
    return [any_1]
