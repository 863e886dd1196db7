/** Node gives a class when it is first asked for, and puts it where a getter was: that is no change. */
const AT_FIRST_USE = Symbol("at first use");

/**
 * What behaves as before: what a server of HTTP puts in the place of Node's own when the first one listens, what Playwright's
 * graceful-fs does, and what ends a process that was started.
 */
const ALLOWED = [
  ...["globalThis.Request", "globalThis.Response"],
  ...["process.cwd", "process.chdir"],
  "listeners of process for exit",
];

/**
 * What a test file can change for the next one in the same process, beside what modules keep.
 * @returns {Map<string, unknown>} by the names that a person would look for
 */
export function readProcess() {
  return new Map([
    ["process.cwd()", process.cwd()],
    ...Object.entries(process.env).map(([name, value]) => [`process.env.${name}`, value]),
    ...process
      .eventNames()
      .map((name) => [`listeners of process for ${String(name)}`, process.listenerCount(name)]),
    ...properties("globalThis", globalThis),
    ...properties("process", process),
    ...["stdout", "stderr"].map((name) => [`process.${name}.write`, process[name].write]),
  ]);
}

/**
 * @param {Map<string, unknown>} before
 * @param {Map<string, unknown>} after
 * @returns {string[]} the names of what differs
 */
export function namesOfChanges(before, after) {
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== AT_FIRST_USE && !ALLOWED.includes(name))
    .filter((name) => !Object.is(before.get(name), after.get(name)))
    .sort();
}

/** Properties whose names begin with an underscore are Node's own. */
function properties(name, object) {
  return Object.entries(Object.getOwnPropertyDescriptors(object))
    .filter(([key]) => !key.startsWith("_"))
    .map(([key, { value, get }]) => [`${name}.${key}`, get === undefined ? value : AT_FIRST_USE]);
}
