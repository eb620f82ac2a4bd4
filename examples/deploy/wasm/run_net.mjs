// Runs an exported net, `lamina compile net.onnx -o net.wasm`, wherever there is WebAssembly with vectors.
//
//   import { Net } from "./run_net.mjs";
//   const net = await Net.load(await fetch("net.wasm"));              // or the bytes of the file
//   const { probabilities } = net.run({ image: new Float32Array(3 * 224 * 224) });
//   const { y } = net.run({ x: new Float32Array(2 * 7) }, { x: [2, 7] });     // where the net leaves extents open
//
// On files of raw tensors, in node; it prints the least and the median time of a run in microseconds. Where extents are
// open the shape of an input stands before its file, 2x7=x.raw:
//
//   node run_net.mjs net.wasm REPEATS INPUT... OUTPUT...

const ABI = 1;
const OPEN = -(2n ** 63n); // in the place of an extent that the shapes of a call tell
const ARRAYS = {
  "0 8": Int8Array, "0 16": Int16Array, "0 32": Int32Array, "0 64": BigInt64Array,
  "1 8": Uint8Array, "1 16": Uint16Array, "1 32": Uint32Array, "1 64": BigUint64Array,
  "2 16": Uint16Array, "2 32": Float32Array, "2 64": Float64Array, // of 16 bits: as they are in memory
  "4 16": Uint16Array, "6 8": Uint8Array,
}; // by DLPack's code and bits of an element

export class Net {
  /** Loads a module: a response of `fetch`, or its bytes. */
  static async load(source) {
    const streamed = typeof Response !== "undefined" && source instanceof Response;
    const bytes = streamed ? await source.arrayBuffer() : source;
    return new Net((await WebAssembly.instantiate(bytes)).instance);
  }

  constructor(instance) {
    const exports = (this.exports = instance.exports);
    const symbol = Object.keys(exports).find((name) => name.startsWith("lamina_"));
    if (!symbol) throw new Error("this module is no net of Lamina's");
    // The record `lamina_net` of lamina.h, addresses of four bytes.
    const at = exports[symbol].value;
    const record = new DataView(exports.memory.buffer);
    if (record.getUint32(at, true) !== ABI) throw new Error("another version of the interface");
    const word = (offset) => record.getUint32(at + offset, true);
    this.name = this.#text(word(8));
    this.target = this.#text(word(12));
    const extent = (n) => (n === OPEN ? null : Number(n));
    const port = (at) => ({
      name: this.#text(record.getUint32(at, true)),
      shape: Array.from({ length: record.getInt32(at + 16, true) }, (_, n) =>
        extent(record.getBigInt64(record.getUint32(at + 4, true) + 8 * n, true)),
      ), // null for an extent that is open
      type: ARRAYS[`${record.getUint8(at + 20)} ${record.getUint8(at + 21)}`],
    });
    const ports = (at, count) => Array.from({ length: count }, (_, n) => port(at + 24 * n));
    this.inputs = ports(word(20), word(28));
    this.outputs = ports(word(24), word(32));
    this.alignment = word(40);
    this.opens = exports.run_shapes !== undefined;
    if (!this.opens) this.place(this.inputs.map((port) => port.shape));
  }

  /** Puts the state, the tensors and their addresses behind what the module itself holds, for shapes of the inputs. */
  place(shapes) {
    const { memory, sizes, start } = this.exports;
    let end = this.exports.__heap_base.value >>> 0; // addresses have no sign
    const room = (size) => {
      const at = Math.ceil(end / this.alignment) * this.alignment;
      end = at + size;
      const missing = Math.ceil((end - memory.buffer.byteLength) / 65536);
      if (missing > 0) memory.grow(missing); // throws a RangeError where there is no memory left
      return at;
    };
    const table = (addresses) => {
      const at = room(4 * addresses.length);
      new Uint32Array(memory.buffer, at, addresses.length).set(addresses);
      return at;
    };
    const answer = room(8);
    this.shapes = table(
      shapes.map((shape) => {
        const at = room(8 * shape.length);
        new BigInt64Array(memory.buffer, at, shape.length).set(shape.map(BigInt));
        return at;
      }),
    );
    const told = this.outputs.map((port) => room(8 * port.shape.length));
    this.#check(sizes(this.opens ? this.shapes : 0, 1, table(told), answer));
    this.stateBytes = new DataView(memory.buffer).getBigUint64(answer, true);
    this.state = room(Number(this.stateBytes));
    const extents = (at, rank) => Array.from(new BigInt64Array(memory.buffer, at, rank), Number);
    const ports = [...this.inputs, ...this.outputs];
    const all = [...shapes, ...this.outputs.map((port, n) => extents(told[n], port.shape.length))];
    ports.forEach((port, n) => {
      port.extents = all[n];
      port.bytes = all[n].reduce((size, extent) => size * extent, port.type.BYTES_PER_ELEMENT);
      port.at = room(port.bytes);
    });
    this.table = table(ports.map((port) => port.at));
    this.#check(start(this.state, 0, 1, 0n));
  }

  /** The elements of an input or output where the net reads or writes them, until the memory grows. */
  view(port) {
    return new port.type(this.exports.memory.buffer, port.at, port.bytes / port.type.BYTES_PER_ELEMENT);
  }

  /** One inference: arrays by the names of inputs to arrays by the names of outputs. The shapes of inputs, by name, are
   * given where extents are open; a shape of an output is `port.extents` then. */
  run(inputs, shapes = {}) {
    if (this.opens) this.place(this.inputs.map((port) => this.shape(port, shapes[port.name])));
    for (const port of this.inputs) {
      const given = inputs[port.name];
      if (!(given instanceof port.type) || given.byteLength !== port.bytes)
        throw new Error(`input ${port.name}: a ${port.type.name} for ${port.extents.join(" x ")} elements is expected`);
      this.view(port).set(given);
    }
    this.compute();
    return Object.fromEntries(this.outputs.map((port) => [port.name, this.view(port).slice()]));
  }

  /** One inference on what stands in the views of the inputs. */
  compute() {
    const tensors = [this.table, this.table + 4 * this.inputs.length];
    const { run, run_shapes } = this.exports;
    this.#check(
      this.opens ? run_shapes(this.state, this.stateBytes, this.shapes, ...tensors) : run(this.state, ...tensors),
    );
  }

  /** A shape that is given for an input. */
  shape(port, shape) {
    if (!Array.isArray(shape) || shape.length !== port.shape.length)
      throw new Error(`input ${port.name}: a shape of ${port.shape.length} extents is expected`);
    return shape;
  }

  #check(code) {
    if (code) throw new Error(this.#text(this.exports.text(code)));
  }

  #text(at) {
    const bytes = new Uint8Array(this.exports.memory.buffer, at);
    return new TextDecoder().decode(bytes.slice(0, bytes.indexOf(0)));
  }
}

/** The pixels of a canvas (RGBA) as float32[1, 3, height, width] of ImageNet's mean and deviation. */
export function planes(pixels, mean = [0.485, 0.456, 0.406], deviation = [0.229, 0.224, 0.225]) {
  const size = pixels.length / 4;
  const image = new Float32Array(3 * size);
  for (let c = 0; c < 3; c++)
    for (let n = 0; n < size; n++) image[c * size + n] = (pixels[4 * n + c] / 255 - mean[c]) / deviation[c];
  return image;
}

/** The largest element, and its place. */
export function best(values) {
  const index = values.reduce((found, value, n) => (value > values[found] ? n : found), 0);
  return { index, value: values[index] };
}

async function main([file, repeats, ...tensors]) {
  const { readFileSync, writeFileSync } = await import("node:fs");
  const net = await Net.load(readFileSync(file));
  const { inputs, outputs } = net;
  if (tensors.length !== inputs.length + outputs.length)
    throw new Error(`${file}: another number of inputs and outputs`);
  if (net.opens) {
    const words = inputs.map((_, n) => tensors[n].split("=", 2)); // 2x7=x.raw
    const shapes = words.map(([shape]) => (shape ? shape.split("x").map(Number) : []));
    net.place(inputs.map((port, n) => net.shape(port, shapes[n])));
    words.forEach(([_, name], n) => (tensors[n] = name));
  }
  inputs.forEach((port, n) => {
    const data = readFileSync(tensors[n]);
    if (data.length !== port.bytes) throw new Error(`${tensors[n]}: ${port.bytes} bytes are expected`);
    new Uint8Array(net.exports.memory.buffer, port.at, port.bytes).set(data);
  });
  const times = [];
  for (let n = 0; n < Number(repeats); n++) {
    const start = performance.now();
    net.compute();
    times.push(1e3 * (performance.now() - start));
  }
  outputs.forEach((port, n) => writeFileSync(tensors[inputs.length + n], net.view(port)));
  times.sort((a, b) => a - b);
  if (times.length) console.log(times[0].toFixed(1), times[times.length >> 1].toFixed(1));
}

if (globalThis.process?.versions?.node) {
  const { pathToFileURL } = await import("node:url");
  if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href)
    main(process.argv.slice(2)).catch((error) => {
      console.error(`error: ${error.message}`);
      process.exitCode = 1;
    });
}
