// RUN: opt-tool %s -p te-to-tir --split-input-file --verify-diagnostics
// The times of a scan run one after the other, however their loop is reshaped.

te.func @f(%X: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<6x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<6x8xf32> {
    %half = te.compute "half" [8] (%i) : tensor<8xf32> {
      %x = te.read %X[%t, %i] : tensor<6x8xf32>
      %c = arith.constant 0.5 : f32
      %h = arith.mulf %x, %c : f32
      te.yield %h : f32
    }
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x8xf32>
      %h = te.read %half[%i] : tensor<8xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<6x8xf32>
}
te.schedule @f {
  %t, %i = te.loops "next" [2]
  // expected-error@+1 {{te.parallel: parallel of 's.t': %s_out[%t + 1, %i] needs %s_out[%t, %i] of an earlier iteration, so they cannot run at once}}
  te.parallel %t
}
// -----
te.func @f(%X: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<6x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<6x8xf32> {
    %half = te.compute "half" [8] (%i) : tensor<8xf32> {
      %x = te.read %X[%t, %i] : tensor<6x8xf32>
      %c = arith.constant 0.5 : f32
      %h = arith.mulf %x, %c : f32
      te.yield %h : f32
    }
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x8xf32>
      %h = te.read %half[%i] : tensor<8xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<6x8xf32>
}
te.schedule @f {
  %t, %i = te.loops "next" [2]
  // expected-error@+1 {{te.bind: bind of 's.t': %s_out[%t + 1, %i] needs %s_out[%t, %i] of an earlier iteration, so they cannot run at once}}
  te.bind %t "threadIdx.x"
}
// -----
te.func @f(%X: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<6x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<6x8xf32> {
    %half = te.compute "half" [8] (%i) : tensor<8xf32> {
      %x = te.read %X[%t, %i] : tensor<6x8xf32>
      %c = arith.constant 0.5 : f32
      %h = arith.mulf %x, %c : f32
      te.yield %h : f32
    }
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x8xf32>
      %h = te.read %half[%i] : tensor<8xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<6x8xf32>
}
te.schedule @f {
  %t, %i = te.loops "next" [2]
  %to, %ti = te.split %t [-1, 2]
  // expected-error@+1 {{te.vectorize: vectorize of 's.t.1': %s_out[}}
  te.vectorize %ti
}
// -----
te.func @f(%X: tensor<6x8xf32>) -> tensor<6x8xf32> {
  %first = te.compute "first" [1, 8] (%z, %i) : tensor<1x8xf32> {
    %x = te.read %X[0, %i] : tensor<6x8xf32>
    te.yield %x : f32
  }
  %s = te.scan "s" [6] (%t) (%state = %first) : (tensor<1x8xf32>) -> tensor<6x8xf32> {
    %half = te.compute "half" [8] (%i) : tensor<8xf32> {
      %x = te.read %X[%t, %i] : tensor<6x8xf32>
      %c = arith.constant 0.5 : f32
      %h = arith.mulf %x, %c : f32
      te.yield %h : f32
    }
    %next = te.compute "next" [8] (%i) : tensor<8xf32> {
      %before = te.read %state[%t - 1, %i] : tensor<6x8xf32>
      %h = te.read %half[%i] : tensor<8xf32>
      %sum = arith.addf %before, %h : f32
      te.yield %sum : f32
    }
    te.yield %next : tensor<8xf32>
  }
  te.return %s : tensor<6x8xf32>
}
te.schedule @f {
  %t, %i = te.loops "next" [2]
  %to, %ti = te.split %t [-1, 2]
  // expected-error@+1 {{te.reorder: reorder of 's.t.1' outside of 's.t.0': %s_out[}}
  te.reorder %ti, %to
}
