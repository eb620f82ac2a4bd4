# given_0: float32[1, 2, 3] -8.478374 -1.7658259 -4.3228045 -2.400456 -7.950587 3.6116052
# output_0: float32[1, 3, 2] -8.478374 -2.400456 -1.7658259 -7.950587 -4.3228045 3.6116052
def forward(self, given_0: "f32[1, 2, 3]"):
    m_h: "f32[1, 3, 2]" = torch.ops.aten.mH.default(given_0);  given_0 = None
    return (m_h,)
