import { createRequire, register } from "node:module";
import { relative } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { takeCoverage } from "node:v8";
import { transformFileSync } from "@swc/core";
import circus from "jest-circus/runner";
import { compilerOptions } from "../typescript-hooks.js";
import { namesOfChanges, readProcess } from "./left-behind.js";
import { setGlobals } from "./shared-globals.js";
import { sharesModules } from "./shared-tests.js";

const require = createRequire(import.meta.url);
/** Under this name jest-circus keeps on `globalThis` what listens to the tests of a file. */
const LISTENERS = Symbol.for("EVENT_HANDLERS");
/** As many as Node keeps. jest keeps 100, and code that throws often takes half as long again. */
const STACK_FRAMES = 10;
let isReady = false;

/**
 * What jest runs each test file by. It is imported by Node itself, into the process of jest's worker, so that a module is
 * evaluated once for all files; tests, hooks, limits of time and reports stay jest's. What mocks or measures has a registry of
 * its own, as jest does it, and so have all files where coverage is measured: jest counts only what it has loaded itself.
 * @throws {Error} when a file leaves the process changed for the next one
 */
export default async function runTestFile(...words) {
  const result = await runFile(...words);
  // Where NODE_V8_COVERAGE names a folder: a worker of jest that has grown is killed, and would write nothing.
  if (process.env.NODE_V8_COVERAGE !== undefined) takeCoverage();
  return result;
}

async function runFile(globalConfig, config, environment, runtime, path, send) {
  if (globalConfig.collectCoverage || !sharesModules(path)) {
    return circus.default(globalConfig, config, environment, runtime, path, send);
  }
  await prepareProcess(config.setupFiles);
  mapPositions(runtime.getSourceMaps());
  Error.stackTraceLimit = STACK_FRAMES;
  const before = readProcess();
  const result = await circus.default(globalConfig, config, { global: {} }, shared, path, send);
  const changes = namesOfChanges(before, readProcess());
  if (changes.length === 0 || result.numFailingTests > 0) return result;
  const name = relative(config.rootDir, path);
  throw new Error(`${name} leaves to other test files what it changed: ${changes.join(", ")}.`);
}

async function prepareProcess(setupFiles) {
  if (isReady) return;
  isReady = true;
  register("./shared-hooks.js", import.meta.url);
  for (const file of setupFiles) await import(pathToFileURL(file).href);
}

/** Compiles again what a failure asks positions of: jest asks for a file of its cache, or a URL. */
function mapPositions(sourceMaps) {
  sourceMaps.get = (at) => {
    const path = at.startsWith("file:") ? fileURLToPath(at) : at;
    if (!path.endsWith(".ts")) return undefined;
    const { code } = transformFileSync(path, compilerOptions(path));
    return code.slice(code.lastIndexOf("data:application/json"));
  };
}

/** What jest-circus asks of a registry of modules. */
const shared = {
  /** The tests of a file are kept in a module of jest-circus: the next file needs a new one. */
  requireInternalModule(path) {
    Reflect.deleteProperty(require.cache, path);
    Reflect.deleteProperty(globalThis, LISTENERS);
    return require(path);
  },
  requireModule: require,
  setGlobalsForRuntime: setGlobals,
  unstable_shouldLoadAsEsm: () => true,
  unstable_importModule: (path) => import(pathToFileURL(path).href),
  enterTestCode: () => undefined,
  leaveTestCode: () => undefined,
};
