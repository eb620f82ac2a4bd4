// lamina.rs: the interface of nets that Lamina has exported, for Rust. No crate is needed:
//
//     mod lamina { include!(concat!(env!("LAMINA_INCLUDE"), "/lamina.rs")); }
//
// A library has one symbol, `static lamina_<name>: lamina_net`. lamina.h says how its functions are called: all memory
// is the caller's, and a state is for one call at a time. Written by `python -m tools.header`.

use core::ffi::{c_char, c_void};

pub const LAMINA_VERSION: u32 = 1;
/// of `start`; 0 where threads are more than processors
pub const LAMINA_SPINS: i64 = 5000;
/// in the place of an extent that the shapes of a call tell
pub const LAMINA_OPEN: i64 = -9223372036854775808;
/// the state has not been started for this net
pub const LAMINA_NO_STATE: i32 = -1;
/// the state is at no multiple of 64 bytes
pub const LAMINA_UNALIGNED_STATE: i32 = -2;
/// a tensor is not in the memory of the processor
pub const LAMINA_DEVICE: i32 = -3;
/// the elements of a tensor are of another type than its port's
pub const LAMINA_TYPE: i32 = -4;
/// the shape of a tensor is another than its port's
pub const LAMINA_SHAPE: i32 = -5;
/// the elements of a tensor are not one behind the other in order
pub const LAMINA_STRIDES: i32 = -6;
/// a tensor is at an address that is no multiple of its elements' size
pub const LAMINA_UNALIGNED: i32 = -7;
/// the library has another version of the interface than lamina.h
pub const LAMINA_ABI: i32 = -8;
/// the net has no weights of its own, and none were given
pub const LAMINA_NO_PARAMS: i32 = -9;
/// the weights are at no multiple of 64 bytes, or the room of `pack`
pub const LAMINA_UNALIGNED_PARAMS: i32 = -10;
/// the net has open extents, and no shapes were given: `run_shapes` takes them
pub const LAMINA_NO_SHAPES: i32 = -11;
/// the state has fewer bytes than these shapes need
pub const LAMINA_STATE_BYTES: i32 = -12;

#[repr(C)]
#[allow(non_camel_case_types)]
pub struct lamina_port {
    /// of the model's input or output
    pub name: *const c_char,
    /// an extent for each dimension; LAMINA_OPEN where a call's shapes tell it, -1 - n where input n, a number, does
    pub shape: *const i64,
    /// of the tensor; 0 where a call tells an extent
    pub bytes: u64,
    /// the number of dimensions
    pub ndim: i32,
    /// of the element type as in DLPack: 0 int, 1 uint, 2 float, 4 bfloat, 6 bool
    pub code: u8,
    /// of an element
    pub bits: u8,
    /// always 1
    pub lanes: u16,
}

const _: () = assert!(core::mem::size_of::<lamina_port>() == if cfg!(target_pointer_width = "64") { 32 } else { 24 });

#[repr(C)]
#[allow(non_camel_case_types)]
pub struct lamina_net {
    /// LAMINA_VERSION of the library
    pub abi: u32,
    /// of this record as the library has it
    pub bytes: u32,
    /// of the net
    pub name: *const c_char,
    /// the processor that it was compiled for
    pub target: *const c_char,
    /// the version of Lamina
    pub built_by: *const c_char,
    /// n_inputs of them
    pub inputs: *const lamina_port,
    /// n_outputs of them
    pub outputs: *const lamina_port,
    /// the number of inputs
    pub n_inputs: u32,
    /// the number of outputs
    pub n_outputs: u32,
    /// the most that it was compiled for
    pub threads: u32,
    /// of a state, in bytes
    pub alignment: u32,
    /// of the packed weights
    pub params_bytes: u64,
    /// the packed weights; null where they are in a file of their own, or `pack` is to make them
    pub params: *const c_void,
    /// for shapes of inputs (null: those of the ports): the outputs' shapes and the bytes of a state, where not null
    pub sizes: unsafe extern "C" fn(
        inputs: *const *const i64,
        threads: u32,
        outputs: *const *mut i64,
        state_bytes: *mut u64,
    ) -> i32,
    /// make a state of memory; params null: the library's; spins: polls before an idle thread sleeps
    pub start: unsafe extern "C" fn(state: *mut c_void, params: *const c_void, threads: u32, spins: i64) -> i32,
    /// one inference on the first elements of all tensors
    pub run: unsafe extern "C" fn(state: *mut c_void, inputs: *const *const c_void, outputs: *const *mut c_void) -> i32,
    /// end the threads of a state
    pub stop: unsafe extern "C" fn(state: *mut c_void),
    /// what a code that is not 0 says
    pub text: unsafe extern "C" fn(code: i32) -> *const c_char,
    /// of the memory that `pack` works in; 0 where it is null
    pub room_bytes: u64,
    /// fill params_bytes of memory with packed weights, for `start`; null where the net needs no such
    pub pack: Option<unsafe extern "C" fn(params: *mut c_void, room: *mut c_void) -> i32>,
    /// `run` on inputs of these shapes, in a state of so many bytes; null where all extents are known
    pub run_shapes: Option<unsafe extern "C" fn(
        state: *mut c_void,
        state_bytes: u64,
        shapes: *const *const i64,
        inputs: *const *const c_void,
        outputs: *const *mut c_void,
    ) -> i32>,
}

const _: () = assert!(core::mem::size_of::<lamina_net>() == if cfg!(target_pointer_width = "64") { 144 } else { 96 });

// All in it is constant.
unsafe impl Sync for lamina_net {}
