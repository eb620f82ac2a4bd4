"""A program of more than a hundred ops, for the tests of what makes programs small."""

from __future__ import annotations

BLOCK = """
  %{n}.product = relay.nn.matmul %{x}, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %{n}.sum = relay.add %{n}.product, %b : (tensor<8x16xf32>, tensor<16xf32>) -> tensor<8x16xf32>
  %{n}.bent = relay.tanh %{n}.sum : tensor<8x16xf32>
  %{n}.back = relay.nn.matmul %{n}.bent, %v : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %{n}.both = relay.{joined} %{x}, %{n}.back : tensor<8x16xf32>
  %{n}.some = relay.nn.relu %{n}.both : tensor<8x16xf32>
  %{n}.turned = relay.transpose %{n}.some {{axes = [1, 0]}} : (tensor<8x16xf32>) -> tensor<16x8xf32>
  %{n}.pairs = relay.nn.matmul %{n}.some, %{n}.turned : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %{n}.shares = relay.nn.softmax %{n}.pairs : tensor<8x8xf32>
  %{n}.mixed = relay.nn.matmul %{n}.shares, %{n}.some : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %{n} = relay.multiply %{n}.mixed, %{n}.bent : tensor<8x16xf32>"""


def hundred_ops(blocks: int = 11, odd: int = 6) -> str:
    """The text of a program of 11 ops a block. One block, the only one, subtracts where the others add."""
    rows: list[str] = []
    x = "x"
    for k in range(blocks):
        rows.append(BLOCK.format(n=f"n{k}", x=x, joined="subtract" if k == odd else "add"))
        x = f"n{k}"
    return (
        "func.func @main(%x: tensor<8x16xf32>, %w: tensor<16x16xf32>, %v: tensor<16x16xf32>, %b: tensor<16xf32>)"
        f" -> tensor<8x16xf32> {{{''.join(rows)}\n  return %{x} : tensor<8x16xf32>\n}}\n"
    )
