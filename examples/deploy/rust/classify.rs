//! Classifies an image by an exported net: the five classes with the highest probabilities. No crate is needed.
//!
//!     export LAMINA_INCLUDE="$(lamina info --include)"
//!     rustc -O --edition 2021 classify.rs && ./classify ./net.so image.bin [NAME]
//!
//! The image is a file of raw float32, in the shape of the net's first input; the first output is one row of
//! probabilities. NAME is that of the net, by default what stands before the suffix of the library's name.
//!
//! With the archive of a net called `net` in the program itself, of `lamina compile net.onnx -o net.a`:
//!
//!     rustc -O --edition 2021 --cfg linked classify.rs -C link-arg=net.a -C link-arg=-lm && ./classify image.bin

use std::alloc::{alloc, dealloc, Layout};
use std::ffi::{c_void, CStr};

mod lamina {
    #![allow(dead_code)]
    include!(concat!(env!("LAMINA_INCLUDE"), "/lamina.rs"));
}
use lamina::{lamina_net, lamina_port};

/// A net with a state to run in: `run` takes it for one call at a time.
struct Net {
    net: &'static lamina_net,
    state: Memory,
    /// What its weights were packed into, where it packs them.
    _weights: Option<Memory>,
}

/// Memory that begins where a net wants it to.
struct Memory {
    first: *mut u8,
    layout: Layout,
}

impl Memory {
    fn new(net: &lamina_net, bytes: u64) -> Result<Memory, String> {
        let layout = Layout::from_size_align(bytes as usize, net.alignment as usize).map_err(|e| e.to_string())?;
        let first = unsafe { alloc(layout) };
        if first.is_null() {
            return Err(format!("no memory of {bytes} bytes"));
        }
        Ok(Memory { first, layout })
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        unsafe { dealloc(self.first, self.layout) };
    }
}

fn text(of: *const std::ffi::c_char) -> String {
    // The texts of a net end with a zero and stay where they are.
    unsafe { CStr::from_ptr(of) }.to_string_lossy().into_owned()
}

impl Net {
    fn new(net: &'static lamina_net) -> Result<Net, String> {
        if net.abi != lamina::LAMINA_VERSION {
            return Err("the library has another version of the interface".into());
        }
        let mut bytes = 0;
        check(net, unsafe { (net.sizes)(std::ptr::null(), net.threads, std::ptr::null(), &mut bytes) })?;
        let state = Memory::new(net, bytes)?;
        let weights = packed(net)?;
        let params = weights.as_ref().map_or(std::ptr::null(), |w| w.first.cast_const());
        check(net, unsafe { (net.start)(state.first.cast(), params.cast(), net.threads, lamina::LAMINA_SPINS) })?;
        Ok(Net { net, state, _weights: weights })
    }

    fn inputs(&self) -> &[lamina_port] {
        unsafe { std::slice::from_raw_parts(self.net.inputs, self.net.n_inputs as usize) }
    }

    fn outputs(&self) -> &[lamina_port] {
        unsafe { std::slice::from_raw_parts(self.net.outputs, self.net.n_outputs as usize) }
    }

    /// One inference on tensors of float32.
    fn run(&mut self, inputs: &[&[f32]], outputs: &mut [&mut [f32]]) -> Result<(), String> {
        let fits = |port: &lamina_port, len: usize| is_float(port) && port.bytes == 4 * len as u64;
        if inputs.len() != self.inputs().len()
            || outputs.len() != self.outputs().len()
            || !self.inputs().iter().zip(inputs).all(|(port, data)| fits(port, data.len()))
            || !self.outputs().iter().zip(outputs.iter()).all(|(port, data)| fits(port, data.len()))
        {
            return Err("the tensors are not those of the net's inputs and outputs".into());
        }
        let read: Vec<*const c_void> = inputs.iter().map(|data| data.as_ptr().cast()).collect();
        let written: Vec<*mut c_void> = outputs.iter_mut().map(|data| data.as_mut_ptr().cast()).collect();
        check(self.net, unsafe { (self.net.run)(self.state.first.cast(), read.as_ptr(), written.as_ptr()) })
    }
}

impl Drop for Net {
    fn drop(&mut self) {
        // Its threads end before its memory goes.
        unsafe { (self.net.stop)(self.state.first.cast()) };
    }
}

/// The weights of a net that packs them when it is loaded.
fn packed(net: &lamina_net) -> Result<Option<Memory>, String> {
    if (net.bytes as usize) < std::mem::size_of::<lamina_net>() {
        return Ok(None); // of an older Lamina
    }
    let Some(pack) = net.pack else { return Ok(None) };
    let (weights, room) = (Memory::new(net, net.params_bytes)?, Memory::new(net, net.room_bytes)?);
    check(net, unsafe { pack(weights.first.cast(), room.first.cast()) })?;
    Ok(Some(weights))
}

fn check(net: &lamina_net, code: i32) -> Result<(), String> {
    if code == 0 {
        Ok(())
    } else {
        Err(text(unsafe { (net.text)(code) }))
    }
}

/// Whether a tensor is one of float32 of a known shape.
fn is_float(port: &lamina_port) -> bool {
    (port.code, port.bits) == (2, 32) && port.bytes > 0
}

/// The bytes of a file as float32 in a machine's own order.
fn floats(path: &str, wanted: u64) -> Result<Vec<f32>, String> {
    let bytes = std::fs::read(path).map_err(|e| format!("{path}: {e}"))?;
    if bytes.len() as u64 != wanted {
        return Err(format!("{path}: has {} bytes, the net's input {wanted}", bytes.len()));
    }
    Ok(bytes.chunks_exact(4).map(|b| f32::from_ne_bytes([b[0], b[1], b[2], b[3]])).collect())
}

fn classify(net: &'static lamina_net, image: &str) -> Result<(), String> {
    let mut net = Net::new(net)?;
    let ([input], [output]) = (net.inputs(), net.outputs()) else {
        return Err("the net has not one input and one output".into());
    };
    if !is_float(input) || !is_float(output) {
        let (input, output) = (text(input.name), text(output.name));
        return Err(format!("{input} or {output}: is no tensor of float32 of a known shape"));
    }
    let pixels = floats(image, input.bytes)?;
    let mut probabilities = vec![0f32; output.bytes as usize / 4];
    net.run(&[&pixels], &mut [&mut probabilities])?;
    let mut classes: Vec<usize> = (0..probabilities.len()).collect();
    classes.sort_by(|&a, &b| probabilities[b].total_cmp(&probabilities[a]));
    for class in classes.iter().take(5) {
        println!("{class} {:.6}", probabilities[*class]);
    }
    Ok(())
}

#[cfg(linked)]
fn run(words: &[String]) -> Result<(), String> {
    extern "C" {
        static lamina_net: lamina_net;
    }
    let [_, image] = words else {
        return Err("usage: classify IMAGE".into());
    };
    classify(unsafe { &lamina_net }, image)
}

#[cfg(not(linked))]
fn run(words: &[String]) -> Result<(), String> {
    let (library, image, name) = match words {
        [_, library, image] => (library, image, name_of(library)),
        [_, library, image, name] => (library, image, name.as_str()),
        _ => return Err("usage: classify LIBRARY IMAGE [NAME]".into()),
    };
    classify(loaded(library, name)?, image)
}

#[cfg(not(linked))]
fn name_of(library: &str) -> &str {
    let file = library.rsplit('/').next().unwrap_or(library);
    file.split('.').next().unwrap_or(file)
}

/// The net of a library, which stays loaded.
#[cfg(not(linked))]
fn loaded(library: &str, name: &str) -> Result<&'static lamina_net, String> {
    use std::ffi::{c_char, c_int, CString};
    #[cfg_attr(not(target_os = "android"), link(name = "dl"))]
    extern "C" {
        fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
        fn dlsym(code: *mut c_void, symbol: *const c_char) -> *mut c_void;
        fn dlerror() -> *const c_char;
    }
    const RTLD_NOW: c_int = 2;
    let file = CString::new(library).map_err(|e| e.to_string())?;
    let symbol = CString::new(format!("lamina_{name}")).map_err(|e| e.to_string())?;
    let code = unsafe { dlopen(file.as_ptr(), RTLD_NOW) };
    if code.is_null() {
        return Err(text(unsafe { dlerror() }));
    }
    let net = unsafe { dlsym(code, symbol.as_ptr()) }.cast::<lamina_net>();
    unsafe { net.as_ref() }.ok_or_else(|| text(unsafe { dlerror() }))
}

fn main() {
    let words: Vec<String> = std::env::args().collect();
    if let Err(what) = run(&words) {
        eprintln!("error: {what}");
        std::process::exit(1);
    }
}
