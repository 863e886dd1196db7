/**
 * Runs one phase of a script and says on stderr how long it took.
 * @template T
 * @param {string} name
 * @param {() => T | Promise<T>} work
 * @returns {Promise<T>}
 */
export async function phase(name, work) {
  const start = performance.now();
  const result = await work();
  const seconds = (performance.now() - start) / 1000;
  process.stderr.write(`${name}: ${seconds.toFixed(1)} s\n`);
  return result;
}

/**
 * The end of every script: its exit code is the work's, and an error is one line, without a stack trace.
 * @param {() => number | Promise<number>} work
 */
export async function runScript(work) {
  try {
    process.exitCode = await work();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = 1;
  }
}
