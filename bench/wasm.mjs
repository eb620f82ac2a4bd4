// What bench/wasm.py runs in node: one exported net and the same model in onnxruntime-web, by turns.
//
//   node wasm.mjs FOLDER_OF_ONNXRUNTIME_WEB RUN_NET.mjs net.wasm net.onnx ROUNDS SECONDS INPUT...
//
// It prints, as JSON, the milliseconds and those of processor time of each side in each round, and the largest difference
// of the outputs.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [folder, runner, module, model, rounds, seconds, ...files] = process.argv.slice(2);
const { Net } = await import(pathToFileURL(runner));
const ort = createRequire(pathToFileURL(`${folder}/`))("onnxruntime-web");
ort.env.wasm.numThreads = 1;

const net = await Net.load(readFileSync(module));
const session = await ort.InferenceSession.create(readFileSync(model), { executionProviders: ["wasm"] });
const names = { Float32Array: "float32", Int32Array: "int32", BigInt64Array: "int64", Uint8Array: "uint8", Int8Array: "int8" };
const inputs = {}, feeds = {};
net.inputs.forEach((port, n) => {
  const bytes = readFileSync(files[n]);
  const data = new port.type(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  inputs[port.name] = data;
  feeds[port.name] = new ort.Tensor(names[port.type.name], data, port.shape);
});

const ours = net.run(inputs);
const theirs = await session.run(feeds);
let difference = 0, largest = 0;
for (const port of net.outputs)
  theirs[port.name].data.forEach((value, n) => {
    difference = Math.max(difference, Math.abs(Number(value) - Number(ours[port.name][n])));
    largest = Math.max(largest, Math.abs(Number(value)));
  });

const sides = { lamina: async () => net.compute(), ort: () => session.run(feeds) };
const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
async function timed(run, count) {
  const times = [], busy = [];
  for (let n = 0; n < count; n++) {
    const start = performance.now(), before = process.cpuUsage();
    await run();
    times.push(performance.now() - start);
    const { user, system } = process.cpuUsage(before);
    busy.push((user + system) / 1e3);
  }
  return { wall: median(times), busy: median(busy) };
}
const counts = {};
for (const [side, run] of Object.entries(sides)) {
  await timed(run, 2); // engines compile once more what runs often
  counts[side] = Math.max(2, Math.ceil((1e3 * Number(seconds)) / (await timed(run, 3)).wall));
}
const times = { lamina: [], ort: [] }, busy = { lamina: [], ort: [] };
for (let n = 0; n < Number(rounds); n++)
  for (const [side, run] of Object.entries(sides)) {
    const median = await timed(run, counts[side]);
    times[side].push(median.wall);
    busy[side].push(median.busy);
  }
console.log(JSON.stringify({ version: ort.env.versions.web ?? ort.env.versions.common, difference, largest, times, busy }));
process.exit(0);
