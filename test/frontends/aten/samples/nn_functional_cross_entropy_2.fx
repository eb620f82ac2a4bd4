# arg0_1: float32[2, 3, 1, 2] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052 -8.067647 -0.57349384 3.1285105 -3.0336847 5.106745 1.1351377
# arg1_1: int64[2, 1, 2] 1 1 0 0
# output_0: float32[] 5.313133
def forward(self, arg0_1: "f32[2, 3, 1, 2]", arg1_1: "i64[2, 1, 2]"):
    _log_softmax: "f32[2, 3, 1, 2]" = torch.ops.aten._log_softmax.default(arg0_1, 1, False);  arg0_1 = None
    nll_loss2d_forward = torch.ops.aten.nll_loss2d_forward.default(_log_softmax, arg1_1, None, 1, -100);  _log_softmax = arg1_1 = None
    getitem: "f32[]" = nll_loss2d_forward[0]
    getitem_1: "f32[]" = nll_loss2d_forward[1];  nll_loss2d_forward = getitem_1 = None
    return [getitem]
