"""The text of regions of one block: `{ ops }`, and `{ }` for a block without any."""

from __future__ import annotations

from xdsl.ir import Block, Region
from xdsl.parser import Parser
from xdsl.printer import Printer


def parse_body(parser: Parser) -> Region:
    """A region of one block without arguments; xDSL reads `{ }` as a region without a block."""
    region = parser.parse_region()
    if region.blocks.first is None:
        region.add_block(Block())
    return region


def print_body(printer: Printer, region: Region) -> None:
    """A region of one block, whose arguments stand elsewhere in the op's text."""
    printer.print_region(region, print_entry_block_args=False, print_empty_block=False)
