"""A product of two matrices as a text of the te level, with a schedule."""


def scheduled_product(*primitives: str) -> str:
    """C[6, 5] = A[6, 4] B[4, 5]; its loops are %i, %j and %k."""
    lines = "".join(f"  {p}\n" for p in ('%i, %j, %k = te.loops "C" [3]', *primitives))
    return f"""te.func @f(%A: tensor<6x4xf32>, %B: tensor<4x5xf32>) -> tensor<6x5xf32> {{
  %C = te.compute "C" [6, 5] sum [4] (%i, %j, %k) : tensor<6x5xf32> {{
    %a = te.read %A[%i, %k] : tensor<6x4xf32>
    %b = te.read %B[%k, %j] : tensor<4x5xf32>
    %p = arith.mulf %a, %b : f32
    te.yield %p : f32
  }}
  te.return %C : tensor<6x5xf32>
}}
te.schedule @f {{
{lines}}}
"""
