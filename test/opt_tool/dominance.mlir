// RUN: opt-tool %s --split-input-file --verify-diagnostics

func.func @use_before_definition(%x: i32) -> i32 {
  // expected-error@+1 {{arith.addi: operand #1 (%later) does not dominate this use}}
  %y = arith.addi %x, %later : i32
  // expected-note@+1 {{%later is defined here}}
  %later = arith.addi %x, %x : i32
  return %y : i32
}
// -----
func.func @use_of_itself(%x: i32) -> i32 {
  // expected-error@+2 {{operand #0 (%self) does not dominate this use}}
  // expected-note@+1 {{defined here}}
  %self = arith.addi %self, %x : i32
  return %self : i32
}
// -----
func.func @only_on_one_path(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^left, ^right
^left:
  // expected-note@+1 {{%y is defined here}}
  %y = arith.addi %x, %x : i32
  cf.br ^join
^right:
  cf.br ^join
^join:
  // expected-error@+1 {{func.return: operand #0 (%y) does not dominate this use}}
  return %y : i32
}
// -----
// The entry dominates all, a loop header its body, whatever the order in the text.
func.func @across_blocks(%c: i1, %x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  cf.br ^head
^body:
  %b = arith.addi %a, %h : i32
  cf.br ^head
^head:
  %h = arith.addi %a, %x : i32
  cf.cond_br %c, ^body, ^exit
^exit:
  return %h : i32
}
// -----
// What cannot be reached needs no definition.
func.func @unreachable(%x: i32) -> i32 {
  return %x : i32
^never:
  %b = arith.addi %a, %x : i32
  %a = arith.addi %x, %x : i32
  return %b : i32
}
// -----
func.func @out_of_a_region(%c: i1, %x: i32) -> i32 {
  scf.if %c {
    %inner = arith.addi %x, %x : i32
    scf.yield
  }
  // expected-error@+1 {{use of undeclared value %inner}}
  %y = "arith.addi"(%inner, %x) : (i32, i32) -> i32
  return %y : i32
}
// -----
// The order of a module's own ops does not matter.
"test.op"(%later) : (i32) -> ()
%later = "test.op"() : () -> i32
// -----
// A value from above is not visible where an op is isolated.
// expected-note@+1 {{%above is defined here}}
%above = "test.op"() : () -> i32
te.func @isolated() {
  // expected-error@+1 {{operand #0 (%above) is defined outside te.func, which is isolated from above}}
  "test.op"(%above) : (i32) -> ()
  te.return
}
