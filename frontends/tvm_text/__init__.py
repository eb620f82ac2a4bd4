"""Relay's own text, as TVM prints it, and the expressions that it is read as, which TVM's programs build by hand.

`lexer` and `parser` make nodes (`expr`, `adt`, `ty`), `to_ir` and `module` a Relay module of them.
"""
