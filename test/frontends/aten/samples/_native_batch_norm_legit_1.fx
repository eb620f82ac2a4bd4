# given_0: float32[3, 2, 4] 3.1285105 -3.0336847 5.106745 1.1351377 4.9473085 5.7744465 -3.973022 3.2707994 -3.8938508 2.8211474 -4.7023954 4.163121 1.8220074 -3.522088 -4.414461 2.3285136 8.3972 4.319086 -0.86907756 -0.43684494 5.1154985 -6.255068 2.9920397 -2.9821851
# given_1: float32[2] -8.478374 -1.7658259
# given_2: float32[2] -4.3228045 -2.400456
# given_3: float32[2] 0.5247066 6.3058023
# given_4: float32[2] 0.4661765 4.213253
# output_0: float32[3, 2, 4] -36.65543 39.86337 -61.22007 -11.902806 -1.2317742 -1.9433424 6.442186 0.21048889 50.544445 -32.83876 60.584515 -49.502663 1.4568521 6.0542574 6.8219457 1.0211161 -102.079155 -51.43935 12.984451 7.6172214 -1.3764644 8.405378 0.45029962 5.589791
# output_1: float32[0]
# output_2: float32[0]
def forward(self, given_0: "f32[3, 2, 4]", given_1: "f32[2]", given_2: "f32[2]", given_3: "f32[2]", given_4: "f32[2]"):
    _native_batch_norm_legit = torch.ops.aten._native_batch_norm_legit.default(given_0, given_1, given_2, given_3, given_4, False, -1.2, 1e-05);  given_0 = given_1 = given_2 = given_3 = given_4 = None
    getitem: "f32[3, 2, 4]" = _native_batch_norm_legit[0]
    getitem_1: "f32[0]" = _native_batch_norm_legit[1]
    getitem_2: "f32[0]" = _native_batch_norm_legit[2];  _native_batch_norm_legit = None
    return (getitem, getitem_1, getitem_2)
