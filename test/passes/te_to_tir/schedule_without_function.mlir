// RUN: opt-tool %s -p te-to-tir --verify-diagnostics

// expected-error@+1 {{the schedule of @g has no function}}
te.schedule @g {
  te.set_scope "B" "register"
}
