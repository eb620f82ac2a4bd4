// RUN: opt-tool %s --allow-unregistered-dialect | filecheck %s
// RUN: not opt-tool %s 2>&1 | filecheck %s --check-prefix=ERROR

// CHECK: %0 = "mine.op"() {key = 1 : i32} : () -> i32
// ERROR: error: unknown dialect 'mine' in 'mine.op'; did you mean {{.*}}, or is it one of your own, for --load FILE.py?
%0 = "mine.op"() {key = 1 : i32} : () -> i32
