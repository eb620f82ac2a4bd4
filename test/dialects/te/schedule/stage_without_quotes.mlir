// RUN: opt-tool %s --verify-diagnostics

te.schedule @f {
  // expected-error @below {{expected a string: the stage's name}}
  %i = te.loops y [1]
}
