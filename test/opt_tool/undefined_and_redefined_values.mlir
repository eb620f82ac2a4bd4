// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @undefined() -> i32 {
  // expected-error@+1 {{use of undeclared value %x}}
  return %x : i32
}
// -----
func.func @redefined(%x: i32) {
  // expected-error@+1 {{SSA value %x is already defined}}
  %x = arith.constant 1 : i32
  return
}
// -----
func.func @type_clash(%x: i32) {
  // expected-error@+1 {{operand is used with type f32, but has been previously used or defined with type i32}}
  %y = arith.addf %x, %x : f32
  return
}
// -----
// expected-error@+1 {{redefinition of symbol "f"}}
builtin.module {
  func.func private @f()
  func.func private @f()
}
// -----
func.func @missing_terminator(%x: i32) {
  // expected-error@+1 {{arith.addi: ends a block of func.func but is no terminator}}
  %y = arith.addi %x, %x : i32
}
// -----
func.func @missing_block() {
  // expected-note@+1 {{reference to block}}
  cf.br ^nowhere
// expected-error@+1 {{missing block declarations for block(s) nowhere}}
}
// -----
// expected-error@+1 {{undefined alias '#b'}}
#a = #b
#b = #a
// -----
// expected-error@+1 {{shape mismatch}}
%0 = arith.constant dense<[1, 2]> : tensor<3xi32>
