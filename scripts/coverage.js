import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { originalPositionFor, TraceMap, eachMapping } from "@jridgewell/trace-mapping";
import { createTransformer } from "@swc/jest";
import jestConfig from "../jest.config.js";
import { runScript } from "./phase.js";
import { root } from "./root.js";

// What tests reached of src, lines and branches, of all processes that they started:
//   NODE_V8_COVERAGE=FOLDER npm run test:all; node scripts/coverage.js FOLDER [FOLDER …] [--json FILE]
// A branch is a function or a block of V8's block coverage. With --json, FILE holds what was not reached, by file.

const args = process.argv.slice(2);
const jsonAt = args.indexOf("--json");
const jsonFile = jsonAt === -1 ? undefined : args.splice(jsonAt, 2)[1];

/** By file of src: its lines and branches, each with whether some process reached it. */
const reached = new Map();
const scripts = new Map();
const transformer = createTransformer(jestConfig.transform["\\.ts$"][1]);

async function addProcess(file) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    process.stderr.write(`left out, a process was killed while it wrote it: ${file}\n`);
    return;
  }
  for (const { url, functions } of report.result) {
    const path = url.startsWith("file://") ? relative(root, fileURLToPath(url)) : "";
    if (!/^(src|dist)\/.*\.[jt]s$/.test(path)) continue;
    const script = await findScript(path, report["source-map-cache"]?.[url]);
    if (script !== undefined) addScript(script, functions);
  }
}

/** A compiled file: its mappings in the order of their offsets. Jest compiles otherwise than the hooks of threads and tsc do. */
async function findScript(path, cached) {
  const key = `${path} ${cached === undefined ? "jest" : cached.lineLengths.length}`;
  if (!scripts.has(key)) scripts.set(key, await readScript(path, cached));
  return scripts.get(key);
}

async function readScript(path, cached) {
  if (cached?.data != null) return mapScript(path, cached.data, cached.lineLengths);
  const file = join(root, path);
  if (!path.endsWith(".ts") || !existsSync(file)) return undefined;
  const { code } = await transformer.processAsync(readFileSync(file, "utf8"), file, {
    supportsStaticESM: true,
    instrument: false,
  });
  const [, encoded = ""] = /sourceMappingURL=data:[^,]*,(\S+)/.exec(code) ?? [];
  const map = JSON.parse(Buffer.from(encoded, "base64").toString());
  return mapScript(
    path,
    map,
    code.split("\n").map((line) => line.length),
  );
}

function mapScript(path, data, lineLengths) {
  const lineStarts = [];
  let offset = 0;
  for (const length of lineLengths) {
    lineStarts.push(offset);
    offset += length + 1;
  }
  const map = new TraceMap(data);
  const source = path.startsWith("src/") ? path : sourceOf(path, map);
  const offsets = [];
  const lines = [];
  eachMapping(map, ({ generatedLine, generatedColumn, originalLine }) => {
    if (originalLine === null) return;
    offsets.push(lineStarts[generatedLine - 1] + generatedColumn);
    lines.push(originalLine);
  });
  const positionAt = (at) => {
    let line = lineStarts.findLastIndex((start) => start <= at);
    line = Math.max(line, 0);
    const found = originalPositionFor(map, { line: line + 1, column: at - lineStarts[line] });
    return found.line === null ? undefined : `${found.line}:${found.column}`;
  };
  return { source, offsets, lines, positionAt, branches: new Map(), seen: new Set() };
}

/** Node gives the sources of a map as URLs. */
const sourceOf = (path, { sources: [source] }) =>
  relative(root, fileURLToPath(new URL(source, pathToFileURL(join(root, path)))));

/** Of nested ranges the innermost counts: V8 lists a function's outermost first, and functions before those within them. */
function addScript(script, functions) {
  const key = JSON.stringify(functions.map(({ ranges }) => ranges.map(isCounted)));
  if (script.seen.has(key)) return;
  script.seen.add(key);
  const { offsets } = script;
  const counts = new Uint8Array(offsets.length).fill(1);
  const ranges = functions
    .flatMap(({ ranges }) => ranges)
    .sort((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of ranges) {
    counts.fill(
      count > 0 ? 1 : 0,
      lowerBound(offsets, startOffset),
      lowerBound(offsets, endOffset),
    );
  }
  const file = fileOf(script.source);
  for (const [at, line] of script.lines.entries()) mark(file.lines, line, counts[at] === 1);
  for (const { startOffset, count } of ranges) {
    const position = branchAt(script, startOffset);
    if (position !== undefined) mark(file.branches, position, count > 0);
  }
}

const isCounted = ({ startOffset, endOffset, count }) => [startOffset, endOffset, count > 0];

function branchAt(script, offset) {
  if (!script.branches.has(offset)) script.branches.set(offset, script.positionAt(offset));
  return script.branches.get(offset);
}

function fileOf(source) {
  if (!reached.has(source)) reached.set(source, { lines: new Map(), branches: new Map() });
  return reached.get(source);
}

function mark(places, place, isReached) {
  if (isReached || !places.has(place)) places.set(place, isReached);
}

function lowerBound(sorted, value) {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function print() {
  const files = [...reached].filter(([name]) => name.startsWith("src/")).sort();
  for (const kind of ["lines", "branches"]) {
    const all = files.flatMap(([, places]) => [...places[kind].values()]);
    const found = all.filter(Boolean).length;
    const share = ((100 * found) / all.length).toFixed(2);
    process.stdout.write(`${kind}: ${share} %, ${found} of ${all.length}\n`);
  }
  process.stdout.write(`files: ${files.length}\n`);
  if (jsonFile === undefined) return;
  const missed = (places) =>
    [...places].filter(([, isReached]) => !isReached).map(([place]) => place);
  const report = files.map(([name, { lines, branches }]) => [
    name,
    { lines: missed(lines), branches: missed(branches) },
  ]);
  writeFileSync(jsonFile, JSON.stringify(Object.fromEntries(report), null, 1));
}

await runScript(async () => {
  if (args.length === 0) throw new Error("Give a folder that NODE_V8_COVERAGE named.");
  for (const folder of args) {
    for (const name of readdirSync(folder).filter((name) => name.endsWith(".json"))) {
      await addProcess(join(folder, name));
    }
  }
  print();
  return 0;
});
