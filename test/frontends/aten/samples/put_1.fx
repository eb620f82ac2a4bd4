# given_0: float32[3, 3] 3.1285105 -3.0336847 5.106745 1.1351377 4.9473085 5.7744465 -3.973022 3.2707994 -3.8938508
# given_1: int64[3] 6 4 2
# given_2: float32[3] 2.8211474 -4.7023954 4.163121
# output_0: float32[3, 3] 3.1285105 -3.0336847 9.269866 1.1351377 0.2449131 5.7744465 -1.1518745 3.2707994 -3.8938508
def forward(self, given_0: "f32[3, 3]", given_1: "i64[3]", given_2: "f32[3]"):
    put: "f32[3, 3]" = torch.ops.aten.put.default(given_0, given_1, given_2, True);  given_0 = given_1 = given_2 = None
    return (put,)
